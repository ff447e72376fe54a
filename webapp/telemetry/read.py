"""Any window of any metric of an attempt, young data included. For tests, pages, API and export alike.

    metrics(attempt) -> list[Metric]
    series(attempt, "phase/step") -> Series with every stored point
    series(attempt, "loss", lo=100, hi=900, max_rows=2400) -> at most so many rows (or 128), min and max kept

Several series of one request share one `Reader`.
"""

from functools import cached_property

from webapp.runs.models import Attempt
from webapp.telemetry import derive
from webapp.telemetry.layers import advance
from webapp.telemetry.models import Metric, Tail
from webapp.telemetry.points import BUILT_IN, Points
from webapp.telemetry.series import Series, series_of
from webapp.telemetry.store import Segments, points_of
from webapp.telemetry.view import View

__all__ = ["Reader", "Series", "metrics", "series", "series_of"]


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
    """Reads one attempt at one moment: the young data is loaded once.

    Steps are the script's own: what is counted by the process (BUILT_IN) is moved by `first_step`, the attempt's unless
    another is given (0: as stored). `young`: the young data, of who has it at hand; it must hold what is asked for.
    """

    def __init__(self, attempt: Attempt, first_step: int | None = None, young: dict[str, Points] | None = None) -> None:
        self.attempt = attempt
        self.attempts = [attempt]
        self.first_step = attempt.first_step if first_step is None else first_step
        self._views: dict[tuple[str, int | None, int | None], View] = {}
        if young is not None:
            self.young = young

    @cached_property
    def young(self) -> dict[str, Points]:
        """Points that are not yet in segments."""
        if self.attempt.compacted:
            return {}
        return points_of(Tail.objects.filter(attempt=self.attempt).order_by("pk"))

    def metrics(self, query: str = "", after: str = "", limit: int | None = None) -> list[Metric]:
        """See the module's `metrics`."""
        found = Metric.objects.filter(attempt=self.attempt)
        if query:
            found = found.filter(name__icontains=query)
        rows = {row.name: row for row in found}
        for name in self._young_names:
            if query.lower() in name.lower():
                rows.setdefault(name, self._new(name))
        names = sorted(name for name in rows if name > after or not after)
        return [self.complete(rows[name]) for name in names[:limit]]

    def axes(self) -> dict[str, str]:
        """Axis of every metric by its name: cheap, where a script may have logged thousands."""
        stored = dict(Metric.objects.filter(attempt=self.attempt).values_list("name", "axis"))
        return {name: self._new(name).axis for name in self._young_names if name not in stored} | stored

    def complete(self, row: Metric) -> Metric:
        """A stored row with the young data in it and with indexes as readers see them; it must not be saved."""
        points = self._young_points(row.name)
        if points is not None:
            first, last = int(points.index.min()), int(points.index.max())
            row.first_index = first if row.first_index is None else min(first, row.first_index)
            row.last_index = last if row.last_index is None else max(last, row.last_index)
            row.points += points.index.size
        if row.first_index is not None and row.last_index is not None:
            row.first_index += self._moved(row.name)
            row.last_index += self._moved(row.name)
        return row

    def young_row(self, name: str) -> Metric | None:
        """The row of a metric that may be in young data only, to be completed."""
        return self._new(name) if name in self._young_names else None

    def series(self, name: str, lo: int | None = None, hi: int | None = None, max_rows: int | None = None) -> Series:
        """See the module's `series`."""
        return self.view(name, lo, hi).series(max_rows)

    def middle(self, name: str, lo: int | None = None, hi: int | None = None, max_rows: int | None = None) -> Series:
        """The median rank of a metric of `middle.NAMES`; else as `series`."""
        return self.view(name, lo, hi).middle(max_rows)

    def view(self, name: str, lo: int | None = None, hi: int | None = None) -> View:
        """The points with lo <= index <= hi, to be read at any resolution."""
        if (name, lo, hi) not in self._views:
            self._views[name, lo, hi] = self._view(name, lo, hi)
        return self._views[name, lo, hi]

    def _view(self, name: str, lo: int | None, hi: int | None) -> View:
        sources = derive.SOURCES.get(name, ())
        young = {n: p for n in (name, *sources) if (p := self.young.get(n)) is not None}
        stored = self._built_in if name in BUILT_IN else Segments(self.attempt, [name])
        changed = advance(young, stored, self.attempt.world_size) if young else {}
        known = stored.metrics.get(name)
        return View(name, self._axis(name, stored), known, changed, lo=lo, hi=hi, moved=self._moved(name))

    @cached_property
    def _built_in(self) -> Segments:
        """What every process counts, asked for at once: most charts need several, some are derived from others."""
        return Segments(self.attempt, BUILT_IN)

    def _moved(self, name: str) -> int:
        return self.first_step if name in BUILT_IN else 0

    def _axis(self, name: str, stored: Segments) -> str:
        if name in stored.metrics:
            return stored.metrics[name].axis
        return self.young[name].axis if name in self.young else "step"

    @cached_property
    def _young_names(self) -> set[str]:
        more = [name for name, sources in derive.SOURCES.items() if all(s in self.young for s in sources)]
        return {*self.young, *more}

    def _new(self, name: str) -> Metric:
        points = self._young_points(name)
        assert points is not None, name
        dtype = derive.DTYPE.get(name, points.dtype)
        return Metric(attempt=self.attempt, name=name, axis=points.axis, columns=points.columns, dtype=dtype)

    def _young_points(self, name: str) -> Points | None:
        if name in self._young_names:
            return self.young.get(name) or self.young[derive.SOURCES[name][0]]
        return None
