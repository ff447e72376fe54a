"""The newest rows of one metric, written in place: a round costs as much as its points, not as much as the window."""

import numpy as np

from webapp.telemetry.blocks import Block, Bools, Floats, Ints
from webapp.telemetry.merge import Layout, cut

_SPARE = 128  # rows
Cells = dict[tuple[int, bytes, bytes], Ints]


class Rolling:
    """Rows whose index is at most `reach` below the newest. `block` shows them as they are; later puts change it."""

    def __init__(self, block: Block, reach: int) -> None:
        self.reach = reach
        self._adopt(block)

    @property
    def block(self) -> Block:
        """The rows, without a copy."""
        rows = slice(self._begin, self._end)
        return Block(self._index[rows], self._columns, self._values[rows], self._present[rows])

    def put(self, layout: Layout, value: Floats, cells: Cells) -> None:
        """More points, as `merge.put` would put them in. `cells`: kept by who puts several metrics of one layout."""
        columns = np.minimum(np.searchsorted(self._columns, layout.columns), self._columns.size - 1)
        known = np.array_equal(self._columns[columns], layout.columns)
        rows = self._rows_for(layout.rows) if known else None
        if rows is None:
            merged = layout.put(self.block, value)
            self._adopt(cut(merged, int(merged.index[-1]) - self.reach, None))
            return
        key = (self._columns.size, rows.tobytes(), columns.tobytes())
        if key not in cells:
            cells[key] = layout.cells_in(rows, columns, self._columns.size)
        self._values.reshape(-1)[cells[key]] = value
        self._present.reshape(-1)[cells[key]] = True
        self._forget()

    def _rows_for(self, index: Ints) -> Ints | None:
        """Where these rows stand, after room was made for new ones; None when some lie between those here."""
        here = self._index[self._begin : self._end]
        new = int(np.searchsorted(index, here[-1], "right"))
        at = np.searchsorted(here, index[:new])
        if not np.array_equal(here[at], index[:new]):
            return None
        return np.concatenate([at, here.size + self._append(index[new:])]) + self._begin

    def _append(self, index: Ints) -> Ints:
        """Empty rows; their numbers among themselves."""
        if self._end + index.size > self._index.size:
            self._adopt(self.block, index.size)
        fresh = slice(self._end, self._end + index.size)
        self._index[fresh], self._values[fresh], self._present[fresh] = index, 0.0, False
        self._end += index.size
        return np.arange(index.size)

    def _forget(self) -> None:
        least = int(self._index[self._end - 1]) - self.reach
        self._begin += int(np.searchsorted(self._index[self._begin : self._end], least))

    def _adopt(self, block: Block, more: int = 0) -> None:
        """Into arrays of our own with room for more, so that rows are moved once in a while only."""
        used = block.index.size
        size = used + used // 4 + more + _SPARE
        self._columns = block.columns
        self._index = np.zeros(size, np.int64)
        self._values: Floats = np.zeros((size, block.columns.size))
        self._present: Bools = np.zeros((size, block.columns.size), dtype=bool)
        self._index[:used], self._values[:used], self._present[:used] = block.index, block.values, block.present
        self._begin, self._end = 0, used
