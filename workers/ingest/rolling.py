"""The newest rows of one metric, written in place: a round costs as much as its points, not as much as the window."""

import numpy as np

from webapp.telemetry.blocks import Block, Bools, Floats, Ints
from webapp.telemetry.merge import ROWS, Layout, cut, together

_EVER = -(1 << 62)
_SPARE = 128  # rows
Cells = dict[tuple[int, bytes, bytes], Ints]


class Rolling:
    """All rows from index `since` on: those at most `reach` below the newest, and those of level 0 blocks of which
    something is not in segments yet. Blocks that it gives show the rows as they are; later puts change them.
    """

    def __init__(self, block: Block, reach: int, since: int | None = None) -> None:
        """`since`: from which index on `block` is what is in segments. None: nothing of the metric is."""
        self.reach, self.since = reach, _EVER if since is None else since
        self._young = int(block.index[0]) if since is None else None  # the least index that is not in segments
        self._adopt(block)

    @property
    def block(self) -> Block:
        """The rows within reach, without a copy."""
        least = int(self._index[self._end - 1]) - self.reach
        return self._rows(self._first + int(np.searchsorted(self._index[self._first : self._end], least)), self._end)

    def put(self, layout: Layout, value: Floats, cells: Cells) -> None:
        """More points, none before `since`, as `merge.put` would put them in; they are young.

        `cells`: kept by who puts several metrics of one layout.
        """
        first = int(layout.rows[0])
        self._young = first if self._young is None else min(self._young, first)
        columns = np.minimum(np.searchsorted(self._columns, layout.columns), self._columns.size - 1)
        known = np.array_equal(self._columns[columns], layout.columns)
        rows = self._rows_for(layout.rows) if known else None
        if rows is None:
            self._adopt(layout.put(self._rows(self._first, self._end), value))
        else:
            key = (self._columns.size, rows.tobytes(), columns.tobytes())
            if key not in cells:
                cells[key] = layout.cells_in(rows, columns, self._columns.size)
            self._values.reshape(-1)[cells[key]] = value
            if layout.is_whole and columns.size == self._columns.size and together(rows):
                self._present[int(rows[0]) : int(rows[-1]) + 1] = True
            else:
                self._present.reshape(-1)[cells[key]] = True
        self._forget()

    def changed(self, before: int | None) -> Block | None:
        """The rows of all level 0 blocks of which something before this index is young. None: any index."""
        if self._young is None or (before is not None and before <= self._young):
            return None
        return cut(self._rows(self._first, self._end), _begin_of(self._young), before)

    def young(self) -> Block | None:
        """The rows of which something may be young."""
        return None if self._young is None else cut(self._rows(self._first, self._end), self._young, None)

    def stored(self, before: int | None) -> None:
        """What is before this index is in segments now. None: any index."""
        if self._young is None:
            return
        rest = before is not None and before <= int(self._index[self._end - 1])
        self._young = max(before, self._young) if rest and before is not None else None
        self._forget()

    def _rows(self, first: int, end: int) -> Block:
        rows = slice(first, end)
        return Block(self._index[rows], self._columns, self._values[rows], self._present[rows])

    def _rows_for(self, index: Ints) -> Ints | None:
        """Where these rows stand, after room was made for new ones; None when some lie between those here."""
        here = self._index[self._first : self._end]
        new = int(np.searchsorted(index, here[-1], "right"))
        at = np.searchsorted(here, index[:new])
        if not np.array_equal(here[at], index[:new]):
            return None
        return np.concatenate([at, here.size + self._append(index[new:])]) + self._first

    def _append(self, index: Ints) -> Ints:
        """Empty rows; their numbers among themselves."""
        used = self._end - self._first
        if self._end + index.size > self._index.size:
            if self._first >= max(used, index.size):  # memory that was used before costs less than new memory
                self._move(self._rows(self._first, self._end))
            else:
                self._adopt(self._rows(self._first, self._end), index.size)
        fresh = slice(self._end, self._end + index.size)
        self._index[fresh], self._values[fresh], self._present[fresh] = index, 0.0, False
        self._end += index.size
        return np.arange(index.size)

    def _forget(self) -> None:
        least = int(self._index[self._end - 1]) - self.reach
        least = least if self._young is None else min(least, _begin_of(self._young))
        gone = int(np.searchsorted(self._index[self._first : self._end], least))
        if gone:
            self._first += gone
            self.since = max(self.since, least)

    def _adopt(self, block: Block, more: int = 0) -> None:
        """Into arrays of our own with room for more, so that rows are moved once in a while only."""
        size = 2 * (block.index.size + more) + _SPARE
        self._columns = block.columns
        self._index = np.empty(size, np.int64)
        self._values: Floats = np.empty((size, block.columns.size))
        self._present: Bools = np.empty((size, block.columns.size), dtype=bool)
        self._move(block)

    def _move(self, block: Block) -> None:
        used = block.index.size
        self._index[:used], self._values[:used], self._present[:used] = block.index, block.values, block.present
        self._first, self._end = 0, used


def _begin_of(index: int) -> int:
    """The first index of the level 0 block with this one."""
    return index // ROWS * ROWS
