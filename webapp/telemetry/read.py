"""Any window of any metric of an attempt, young data included. For tests, pages, API and export alike.

    metrics(attempt) -> list[Metric]
    series(attempt, "phase/step") -> Series with every stored point
    series(attempt, "loss", lo=100, hi=900, max_rows=2400) -> at most so many rows (or 128), min and max kept

Several series of one request share one `Reader`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.db.models import Q, Sum

from webapp.runs.models import Attempt
from webapp.telemetry import derive
from webapp.telemetry.blocks import Block, Bools, Floats, Ints, decode, empty
from webapp.telemetry.layers import MAX_LEVEL, Key, advance
from webapp.telemetry.merge import cut, joined, span, stride
from webapp.telemetry.models import Metric, Segment, Tail
from webapp.telemetry.points import Points
from webapp.telemetry.store import Segments, points_of
from webapp.telemetry.units import unit_of


@dataclass(frozen=True, slots=True)
class Series:
    """`values[row, column]` at `index[row]` (step, or epoch second) for rank or node `columns[column]`.

    A missing cell is NaN in values and False in `present`; a NaN that was logged is NaN and present. At level 0 mins
    and maxs are the values; above it values are means. `bad`: a NaN or infinity is in the cell. `total`: raw rows in
    the window, of which `index.size` are here.
    """

    name: str
    unit: str
    axis: str
    index: Ints
    columns: list[int]
    values: Floats
    present: Bools
    mins: Floats
    maxs: Floats
    bad: Bools
    level: int
    total: int


def metrics(attempt: Attempt, query: str = "", after: str = "", limit: int | None = None) -> list[Metric]:
    """Metrics by name, those that are only in young data included (unsaved rows).

    `query`: part of the name; `after` and `limit` page through the names.
    """
    return Reader(attempt).metrics(query, after, limit)


def series(
    attempt: Attempt, name: str, lo: int | None = None, hi: int | None = None, max_rows: int | None = None
) -> Series:
    """The points with lo <= index <= hi. Empty when there is no such metric."""
    return Reader(attempt).series(name, lo, hi, max_rows)


class Reader:
    """Reads one attempt at one moment: the young data is loaded once."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt

    @cached_property
    def young(self) -> dict[str, Points]:
        """Points that are not yet in segments."""
        return points_of(Tail.objects.filter(attempt=self.attempt).order_by("pk"))

    def metrics(self, query: str = "", after: str = "", limit: int | None = None) -> list[Metric]:
        """See the module's `metrics`."""
        found = Metric.objects.filter(attempt=self.attempt)
        if query:
            found = found.filter(name__icontains=query)
        rows = {row.name: row for row in found}
        for name in self._young_names():
            if query.lower() in name.lower():
                rows[name] = self._with_young(name, rows.get(name))
        names = sorted(name for name in rows if name > after or not after)
        return [rows[name] for name in names[:limit]]

    def series(self, name: str, lo: int | None = None, hi: int | None = None, max_rows: int | None = None) -> Series:
        """See the module's `series`."""
        sources = derive.SOURCES.get(name, ())
        stored = Segments(self.attempt, [name, *sources])
        young = {n: p for n in (name, *sources) if (p := self.young.get(n)) is not None}
        changed = advance(young, stored, self.attempt.world_size) if young else {}
        window = _Window(name, stored.metrics.get(name), changed, lo, hi)
        level = 0 if max_rows is None else window.level_for(max_rows)
        block = window.block(level)
        total = block.index.size if level == 0 else window.raw_rows()
        return series_of(name, self._axis(name, stored), block, level, total)

    def _axis(self, name: str, stored: Segments) -> str:
        if name in stored.metrics:
            return stored.metrics[name].axis
        return self.young[name].axis if name in self.young else "step"

    def _young_names(self) -> Iterable[str]:
        more = [name for name, sources in derive.SOURCES.items() if all(s in self.young for s in sources)]
        return [*self.young, *more]

    def _with_young(self, name: str, row: Metric | None) -> Metric:
        points = self.young.get(name) or self.young[derive.SOURCES[name][0]]
        if row is None:
            dtype = derive.DTYPE.get(name, points.dtype)
            row = Metric(attempt=self.attempt, name=name, axis=points.axis, columns=points.columns, dtype=dtype)
        first, last = int(points.index.min()), int(points.index.max())
        row.first_index = first if row.first_index is None else min(first, row.first_index)
        row.last_index = last if row.last_index is None else max(last, row.last_index)
        row.points += points.index.size
        return row


class _Window:
    """One metric between two indexes: stored segments with the changed blocks laid over them."""

    def __init__(
        self, name: str, metric: Metric | None, changed: dict[Key, Block], lo: int | None, hi: int | None
    ) -> None:
        self.metric = metric
        self.changed = {(key.level, key.block): block for key, block in changed.items() if key.name == name}
        self.lo, self.hi = lo, hi

    def level_for(self, max_rows: int) -> int:
        rows = self._rows_by_level()
        for level in range(MAX_LEVEL + 1):
            if rows.get(level, 0) <= max_rows or level + 1 not in rows:
                return level
        return MAX_LEVEL

    def block(self, level: int) -> Block:
        found = {number: block for (at, number), block in self.changed.items() if at == level and self._in(at, number)}
        if self.metric is not None:
            rows = Segment.objects.filter(self._covers(level), metric=self.metric).exclude(block__in=list(found))
            found |= {row.block: decode(bytes(row.payload)) for row in rows}
        whole = joined([found[number] for number in sorted(found)]) if found else empty(level > 0)
        step = stride(level)
        lo = None if self.lo is None else self.lo // step * step
        return cut(whole, lo, None if self.hi is None else self.hi + 1)

    def raw_rows(self) -> int:
        """Rows of level 0 in the window, exactly."""
        rows = self._rows_by_level().get(0, 0)
        edges = {(0, edge // span(0)) for edge in (self.lo, self.hi) if edge is not None}
        for edge in edges:
            block = self.changed.get(edge) or self._stored_block(*edge)
            if block is not None:
                inside = cut(block, self.lo, None if self.hi is None else self.hi + 1)
                rows -= block.index.size - inside.index.size
        return rows

    def _rows_by_level(self) -> dict[int, int]:
        rows: dict[int, int] = {}
        if self.metric is not None:
            covers = Q()
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


def series_of(name: str, axis: str, block: Block, level: int, total: int) -> Series:
    """A block as a series."""
    values = np.where(block.present, block.values, np.nan)
    rolled = block.rolled
    return Series(
        name=name,
        unit=unit_of(name),
        axis=axis,
        index=block.index,
        columns=[int(column) for column in block.columns],
        values=values,
        present=block.present,
        mins=np.where(block.present, rolled.mins, np.nan) if rolled else values,
        maxs=np.where(block.present, rolled.maxs, np.nan) if rolled else values,
        bad=rolled.bad if rolled else block.present & ~np.isfinite(values),
        level=level,
        total=total,
    )
