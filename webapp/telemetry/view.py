"""One metric of one attempt between two indexes, at any resolution."""

import math
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

from webapp.telemetry.blocks import Block, decode, empty
from webapp.telemetry.layers import MAX_LEVEL, Key, exists
from webapp.telemetry.merge import ROWS, cut, joined, roll_up, span, stride
from webapp.telemetry.middle import middle
from webapp.telemetry.models import Metric
from webapp.telemetry.series import Series, series_of
from webapp.telemetry.shelf import MIDDLE, PAYLOAD, SIZE, Rows, Shelf, Want, Window


class View:
    """Stored segments with the changed blocks laid over them, in lo <= index <= hi.

    `moved`: what is added to the stored indexes; lo, hi and all that is read are after it. `shelf`: what is read of the
    database goes through it.
    """

    def __init__(
        self,
        name: str,
        axis: str,
        metric: Metric | None,
        changed: dict[Key, Block],
        *,
        lo: int | None,
        hi: int | None,
        moved: int,
        shelf: Shelf,
    ) -> None:
        self.name, self.axis, self.metric, self.moved, self.shelf = name, axis, metric, moved, shelf
        self.changed = {(key.level, key.block): block for key, block in changed.items() if key.name == name}
        self.lo, self.hi = (None if edge is None else edge - moved for edge in (lo, hi))

    def series(self, max_rows: int | None = None) -> Series:
        """Every point, or roll-ups that are at most about `max_rows`."""
        level = 0 if max_rows is None else self.level_for(max_rows)
        block = self.at(level)
        return series_of(self.name, self.axis, block, level, block.index.size if level == 0 else self.raw_rows())

    def middle(self, max_rows: int | None = None) -> Series:
        """As `series`, of the median rank alone. It is stored beside the blocks of `middle.NAMES`."""
        level = 0 if max_rows is None else self.level_for(max_rows)
        block = self._shown(self._cut(_together(self._middles(level), level), level))
        total = block.index.size if level == 0 else self.raw_rows()
        found = series_of(self.name, self.axis, block, level, total)
        return replace(found, median_of=max(found.columns, default=0))

    def at(self, level: int) -> Block:
        """The rows of one level, rolled up here where the level is not stored."""
        stored = self._stored_level(level)
        block = self._cut(_together(self._stored(stored), stored), stored)
        return self._shown(roll_up(block, level) if stored < level else block)

    def pieces(self, level: int) -> Iterator[Block]:
        """What `at` puts together, one after the other, for who need not hold a table of it all."""
        if level not in self.levels:
            return iter([self.at(level)])
        return (self._shown(self._cut(block, level)) for block in self._stored(level))

    def within(self, lo: int, hi: int) -> "View":
        """The same in a smaller window."""
        view = copy(self)
        view.__dict__.pop("rows", None)
        view.lo, view.hi = lo - self.moved, hi - self.moved
        return view

    @property
    def most_rows(self) -> float:
        """What the window's width allows at level 0, known without a look at the database."""
        return math.inf if self.lo is None or self.hi is None else max(0, self.hi - self.lo + 1)

    @property
    def first(self) -> int:
        """The first index of the metric, in the window or not; -1 when it has none."""
        extents = self._extents()
        return min(first for first, _last in extents) + self.moved if extents else -1

    @property
    def last(self) -> int:
        """The last index of the metric, in the window or not; -1 when it has none."""
        extents = self._extents()
        return max(last for _first, last in extents) + self.moved if extents else -1

    def level_for(self, max_rows: int) -> int:
        """See the module's `level_for`."""
        return level_for([self], max_rows)

    def raw_rows(self) -> int:
        """Rows of level 0 in the window, exactly."""
        self.shelf.read(self.sizes())
        return self.rows.get(0, 0) - sum(self._outside(number) for number in self._edges())

    @cached_property
    def rows(self) -> dict[int, int]:
        """Rows of each level in the blocks that touch the window."""
        rows = dict(self.shelf.counts(self.window))
        changed = self._changed_here()
        if changed:
            self.shelf.read(self.sizes())
        for (level, number), block in changed.items():
            rows[level] = rows.get(level, 0) + block.index.size - self._size(level, number)
        return rows

    @cached_property
    def levels(self) -> set[int]:
        """Levels that the metric has, the raw one always."""
        extent = (self.first - self.moved, self.last - self.moved)
        return {0, *(level for level in range(1, MAX_LEVEL + 1) if exists(level, extent))}

    @property
    def window(self) -> Window:
        """What is shown, as stored."""
        return Window(None if self.metric is None else self.metric.pk, self.lo, self.hi)

    def sizes(self) -> list[Want]:
        """What `rows` and `raw_rows` ask the shelf for, beside the counts of the window."""
        places = {*self._changed_here(), *((0, number) for number in self._edges())}
        return [self._want_size(level, number) for level, number in places]

    def wants(self, level: int, *, of_middle: bool = False) -> list[Want]:
        """What `series` or `middle` ask the shelf for when this is their level, beside counts and sizes."""
        rows = Want(self.window, self._stored_level(level), MIDDLE if of_middle else PAYLOAD)
        edges = [number for number in self._edges() if level and self._must_be_read(number)]
        return [rows, *(self._want_block(0, number) for number in edges)]

    def _stored_level(self, level: int) -> int:
        return max(known for known in self.levels if known <= level)

    def _stored(self, level: int) -> Iterator[Block]:
        """Blocks that touch the window, ascending."""
        found, rows = self._changed_at(level), self._take(level, PAYLOAD)
        for number in sorted({*found, *rows}):
            yield found[number] if number in found else decode(rows[number][0])

    def _middles(self, level: int) -> Iterator[Block]:
        """The median rank of each of them."""
        found, rows = self._changed_at(level), self._take(level, MIDDLE)
        for number in sorted({*found, *rows}):
            yield middle(found[number]) if number in found else self._middle(level, number, rows[number])

    def _middle(self, level: int, number: int, row: tuple[Any, ...]) -> Block:
        size, kept, payload = row
        if kept is None:
            return middle(decode(payload))
        found = decode(kept)
        if found.index.size == size:
            return found
        # An earlier version wrote the block again, and left what stood beside it.
        return middle(decode(self.shelf.take(self._want_block(level, number))[number][0]))

    def _outside(self, number: int) -> int:
        """How many rows of a level 0 block are not in the window."""
        block = self.changed.get((0, number))
        if block is None and self._must_be_read(number):
            block = decode(self.shelf.take(self._want_block(0, number))[number][0])
        if block is not None:
            return block.index.size - self._cut(block, 0).index.size
        first, size = number * ROWS, self._size(0, number)
        lo = first if self.lo is None else max(first, self.lo)
        hi = first + ROWS - 1 if self.hi is None else min(first + ROWS - 1, self.hi)
        return min(size, ROWS - max(0, hi - lo + 1))

    def _must_be_read(self, number: int) -> bool:
        """Whether the size of a stored level 0 block leaves open which indexes it has: neither none nor all."""
        return (0, number) not in self.changed and 0 < self._size(0, number) < ROWS

    def _cut(self, block: Block, level: int) -> Block:
        """Its rows in the window."""
        step = stride(level)
        lo = None if self.lo is None else self.lo // step * step
        return cut(block, lo, None if self.hi is None else self.hi + 1)

    def _shown(self, block: Block) -> Block:
        """With indexes as readers see them."""
        return replace(block, index=block.index + self.moved)

    def _extents(self) -> list[tuple[int, int]]:
        raw = [block.index for (level, _number), block in self.changed.items() if not level and block.index.size]
        found = [(int(index[0]), int(index[-1])) for index in raw]
        if self.metric is not None and self.metric.first_index is not None and self.metric.last_index is not None:
            found.append((self.metric.first_index, self.metric.last_index))
        return found

    def _edges(self) -> set[int]:
        """Level 0 blocks that may reach out of the window."""
        return {edge // span(0) for edge in (self.lo, self.hi) if edge is not None}

    def _changed_here(self) -> dict[tuple[int, int], Block]:
        window = self.window
        return {place: block for place, block in self.changed.items() if window.holds(*place)}

    def _changed_at(self, level: int) -> dict[int, Block]:
        return {number: block for (at, number), block in self._changed_here().items() if at == level}

    def _take(self, level: int, columns: tuple[str, ...]) -> Rows:
        return self.shelf.take(Want(self.window, level, columns))

    def _size(self, level: int, number: int) -> int:
        rows: int = self.shelf.look(self._want_size(level, number)).get(number, (0,))[0]
        return rows

    def _want_size(self, level: int, number: int) -> Want:
        return Want(self._place(level, number), level, SIZE)

    def _want_block(self, level: int, number: int) -> Want:
        return Want(self._place(level, number), level, PAYLOAD)

    def _place(self, level: int, number: int) -> Window:
        first = number * span(level)
        return Window(self.window.metric, first, first + span(level) - 1)


def level_for(views: Sequence[View], max_rows: int) -> int:
    """The finest level at which all views together have at most so many rows, or else the coarsest."""
    if sum(view.most_rows for view in views) <= max_rows:
        return 0
    for level in range(MAX_LEVEL):
        if sum(_rows_at(view, level) for view in views) <= max_rows or not any(level + 1 in v.rows for v in views):
            return level
    return MAX_LEVEL


def _rows_at(view: View, level: int) -> int:
    stored = max((known for known in view.rows if known <= level), default=0)
    return -(-view.rows.get(stored, 0) // stride(level - stored))


def _together(found: Iterable[Block], level: int) -> Block:
    blocks = list(found)
    return joined(blocks) if blocks else empty(level > 0)
