"""Rows of segments for many metrics at once, so that a page of many charts asks the database as often as one of few."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Case, Q, Sum, When

from webapp.telemetry.layers import MAX_LEVEL
from webapp.telemetry.merge import span
from webapp.telemetry.models import Segment

Rows = dict[int, tuple[Any, ...]]  # by block
Span = tuple[int | None, int | None]
PAYLOAD, SIZE = ("payload",), ("rows",)
MIDDLE = ("rows", "middle", "instead")  # `instead`: the payload where no middle is kept beside it


@dataclass(frozen=True, slots=True)
class Window:
    """The blocks of a metric, by its key, that touch lo <= index <= hi, as stored; None: open.

    Without a metric there are none.
    """

    metric: int | None
    lo: int | None = None
    hi: int | None = None

    def covers(self, level: int) -> Q:
        """Its blocks of a level, whatever the metric."""
        q = Q(level=level)
        if self.lo is not None:
            q &= Q(block__gte=self.lo // span(level))
        if self.hi is not None:
            q &= Q(block__lte=self.hi // span(level))
        return q

    def holds(self, level: int, block: int) -> bool:
        """Whether a block touches it."""
        above = self.lo is None or block >= self.lo // span(level)
        return above and (self.hi is None or block <= self.hi // span(level))

    @property
    def edges(self) -> Span:
        """First and last index."""
        return self.lo, self.hi

    @property
    def all_levels(self) -> Q:
        """Its blocks of all levels, whatever the metric."""
        if self.lo is None and self.hi is None:
            return Q()
        return reduce(or_, (self.covers(level) for level in range(MAX_LEVEL + 1)))


@dataclass(frozen=True, slots=True)
class Want:
    """Some columns of a window's segments at one level."""

    window: Window
    level: int
    columns: tuple[str, ...]


class Shelf:
    """What was asked for together, until it is needed; what was not is asked for by itself."""

    def __init__(self) -> None:
        self._counts: dict[Window, dict[int, int]] = {}
        self._rows: dict[Want, Rows] = {}
        self._due: Counter[Want] = Counter()  # how often each will be taken yet

    def counts(self, window: Window) -> dict[int, int]:
        """How many rows each level has in the blocks that touch the window."""
        self.count([window])
        return self._counts[window]

    def look(self, want: Want) -> Rows:
        """It is kept, so it should be small."""
        self.read([want])
        return self._rows[want]

    def take(self, want: Want) -> Rows:
        """It is kept only for as many as have asked to read it ahead."""
        self.read([want] if want not in self._rows else [])
        self._due[want] -= 1
        return self._rows[want] if self._due[want] > 0 else self._rows.pop(want)

    def count(self, windows: Iterable[Window]) -> None:
        """Together."""
        missing = {window: dict[int, int]() for window in windows if window not in self._counts}
        self._counts |= missing
        names = {window.edges: f"rows_{k}" for k, window in enumerate(missing)}
        of: dict[int, list[Window]] = defaultdict(list)
        for window in missing:
            if window.metric is not None:
                of[window.metric].append(window)
        for metric, level, sums in _summed([window for same in of.values() for window in same], names):
            for window in of[metric]:
                rows = sums[names[window.edges]]
                if rows:
                    self._counts[window][level] = rows

    def read(self, wants: Iterable[Want]) -> None:
        """Together, those of the same columns."""
        by_columns: dict[tuple[str, ...], list[Want]] = defaultdict(list)
        for want in wants:
            self._due[want] += 1
            if want not in self._rows:
                self._rows[want] = {}
                if want.window.metric is not None:
                    by_columns[want.columns].append(want)
        for columns, same in by_columns.items():
            self._read(same, columns)

    def _read(self, wants: Collection[Want], columns: tuple[str, ...]) -> None:
        of: dict[tuple[int | None, int], list[Want]] = defaultdict(list)
        for want in wants:
            of[want.window.metric, want.level].append(want)
        found = Segment.objects.filter(_any((want.window, want.window.covers(want.level)) for want in wants))
        found = found.annotate(instead=Case(When(middle=None, then="payload")))
        for metric, level, block, *row in found.values_list("metric", "level", "block", *columns):
            for want in of[metric, level]:
                if want.window.holds(level, block):
                    self._rows[want][block] = tuple(row)


def _any(parts: Iterable[tuple[Window, Q]]) -> Q:
    """Blocks of any of the windows; those of many metrics that are alike are one condition."""
    metrics: dict[Q, list[int | None]] = defaultdict(list)
    for window, q in parts:
        metrics[q].append(window.metric)
    return reduce(or_, (Q(metric__in=same) & q for q, same in metrics.items()))


def _summed(windows: Collection[Window], names: Mapping[Span, str]) -> Iterator[tuple[int, int, dict[str, int | None]]]:
    """(metric, level, its rows in each span by the span's name)."""
    if windows:
        sums = {names[window.edges]: Sum("rows", filter=window.all_levels or None) for window in windows}
        found = Segment.objects.filter(_any((window, window.all_levels) for window in windows))
        for metric, level, *rows in found.values_list("metric", "level").annotate(**sums).order_by():
            yield metric, level, dict(zip(sums, rows, strict=True))
