"""One metric of one attempt between two indexes, at any resolution."""

import math
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property

from django.db.models import Q, Sum

from webapp.telemetry.blocks import Block, decode, empty
from webapp.telemetry.layers import MAX_LEVEL, Key, exists
from webapp.telemetry.merge import cut, joined, roll_up, span, stride
from webapp.telemetry.middle import middle
from webapp.telemetry.models import Metric, Segment
from webapp.telemetry.series import Series, series_of


class View:
    """Stored segments with the changed blocks laid over them, in lo <= index <= hi.

    `moved`: what is added to the stored indexes; lo, hi and all that is read are after it.
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
    ) -> None:
        self.name, self.axis, self.metric, self.moved = name, axis, metric, moved
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
        middles = self._middles(level)
        block = self._shown(self._cut(_together((middles[number] for number in sorted(middles)), level), level))
        total = block.index.size if level == 0 else self.raw_rows()
        found = series_of(self.name, self.axis, block, level, total)
        return replace(found, median_of=max(found.columns, default=0))

    def at(self, level: int) -> Block:
        """The rows of one level, rolled up here where the level is not stored."""
        stored = max(known for known in self.levels if known <= level)
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
        edges = self._edges()
        return min(first for first, _last in edges) + self.moved if edges else -1

    @property
    def last(self) -> int:
        """The last index of the metric, in the window or not; -1 when it has none."""
        edges = self._edges()
        return max(last for _first, last in edges) + self.moved if edges else -1

    def _edges(self) -> list[tuple[int, int]]:
        raw = [block.index for (level, _number), block in self.changed.items() if not level and block.index.size]
        found = [(int(index[0]), int(index[-1])) for index in raw]
        if self.metric is not None and self.metric.first_index is not None and self.metric.last_index is not None:
            found.append((self.metric.first_index, self.metric.last_index))
        return found

    def level_for(self, max_rows: int) -> int:
        """The finest level that has at most so many rows, or else the coarsest."""
        if self.most_rows <= max_rows:
            return 0
        rows = self.rows
        for level in range(MAX_LEVEL + 1):
            if rows.get(level, 0) <= max_rows or level + 1 not in rows:
                return level
        return MAX_LEVEL

    def _stored(self, level: int) -> Iterator[Block]:
        """Blocks that touch the window, ascending."""
        found = {number: block for (at, number), block in self.changed.items() if at == level and self._in(at, number)}
        payloads: dict[int, bytes | memoryview] = {}
        if self.metric is not None:
            rows = Segment.objects.filter(self._covers(level), metric=self.metric)
            rows = rows.exclude(block__in=list(found)) if found else rows
            payloads = dict(rows.values_list("block", "payload"))
        for number in sorted({*found, *payloads}):
            yield found[number] if number in found else decode(payloads[number])

    def _middles(self, level: int) -> dict[int, Block]:
        """The median rank of each block."""
        changed = {at: block for (on, at), block in self.changed.items() if on == level and self._in(on, at)}
        found = {number: middle(block) for number, block in changed.items()}
        if self.metric is None:
            return found
        rows = Segment.objects.filter(self._covers(level), metric=self.metric).exclude(block__in=list(found))
        without = []
        for number, count, payload in rows.values_list("block", "rows", "middle"):
            block = None if payload is None else decode(payload)
            if block is None or block.index.size != count:  # by an earlier version, or before one wrote the block again
                without.append(number)
            else:
                found[number] = block
        rest = rows.filter(block__in=without).values_list("block", "payload") if without else []
        return found | {number: middle(decode(payload)) for number, payload in rest}

    def _cut(self, block: Block, level: int) -> Block:
        """Its rows in the window."""
        step = stride(level)
        lo = None if self.lo is None else self.lo // step * step
        return cut(block, lo, None if self.hi is None else self.hi + 1)

    def _shown(self, block: Block) -> Block:
        """With indexes as readers see them."""
        return replace(block, index=block.index + self.moved)

    def raw_rows(self) -> int:
        """Rows of level 0 in the window, exactly."""
        rows = self.rows.get(0, 0)
        edges = {(0, edge // span(0)) for edge in (self.lo, self.hi) if edge is not None}
        for edge in edges:
            block = self.changed.get(edge) or self._stored_block(*edge)
            if block is not None:
                inside = cut(block, self.lo, None if self.hi is None else self.hi + 1)
                rows -= block.index.size - inside.index.size
        return rows

    @cached_property
    def rows(self) -> dict[int, int]:
        """Rows of each level in the blocks that touch the window."""
        rows: dict[int, int] = {}
        if self.metric is not None:
            covers = Q()
            if (self.lo, self.hi) != (None, None):
                for level in range(MAX_LEVEL + 1):
                    covers |= self._covers(level)
            changed = Q()
            for level, number in self.changed:
                changed |= Q(level=level, block=number)
            found = Segment.objects.filter(covers, metric=self.metric)
            found = found.exclude(changed) if self.changed else found
            rows = dict(found.values_list("level").annotate(Sum("rows")).order_by("level"))
        for (level, number), block in self.changed.items():
            if self._in(level, number):
                rows[level] = rows.get(level, 0) + block.index.size
        return rows

    @cached_property
    def levels(self) -> set[int]:
        """Levels that the metric has, the raw one always."""
        extent = (self.first - self.moved, self.last - self.moved)
        return {0, *(level for level in range(1, MAX_LEVEL + 1) if exists(level, extent))}

    def _covers(self, level: int) -> Q:
        q = Q(level=level)
        if self.lo is not None:
            q &= Q(block__gte=self.lo // span(level))
        if self.hi is not None:
            q &= Q(block__lte=self.hi // span(level))
        return q

    def _in(self, level: int, number: int) -> bool:
        above = self.lo is None or number >= self.lo // span(level)
        return above and (self.hi is None or number <= self.hi // span(level))

    def _stored_block(self, level: int, number: int) -> Block | None:
        row = Segment.objects.filter(metric=self.metric, level=level, block=number).first() if self.metric else None
        return decode(bytes(row.payload)) if row else None


def _together(found: Iterable[Block], level: int) -> Block:
    blocks = list(found)
    return joined(blocks) if blocks else empty(level > 0)
