"""Any window of any metric of an attempt, young data included. For tests, pages, API and export alike.

    metrics(attempt) -> list[Metric]
    series(attempt, "phase/step") -> Series with every stored point
    series(attempt, "loss", lo=100, hi=900, max_rows=2400) -> at most so many rows (or 128), min and max kept

Several series of one request share one `Reader`; `ahead.py` asks the database for all of them at once.
"""

from collections.abc import Iterable
from copy import copy
from functools import cached_property

from webapp.runs.models import Attempt
from webapp.telemetry import derive
from webapp.telemetry.ahead import Ask, Together
from webapp.telemetry.blocks import Block
from webapp.telemetry.layers import Key, advance
from webapp.telemetry.merge import places
from webapp.telemetry.models import Metric, Tail
from webapp.telemetry.points import BUILT_IN, Points
from webapp.telemetry.series import Series, series_of
from webapp.telemetry.shelf import Shelf
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
    `shelf`: one for several attempts that are read together.
    """

    def __init__(
        self,
        attempt: Attempt,
        first_step: int | None = None,
        young: dict[str, Points] | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self.attempt = attempt
        self.attempts = [attempt]
        self.first_step = attempt.first_step if first_step is None else first_step
        self.shelf = shelf or Shelf()
        self._rows: dict[str, Metric | None] = {}
        self._changed: dict[str, dict[Key, Block]] = {}
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

    def metric(self, name: str) -> Metric | None:
        """As `metrics` gives it; None when there is none."""
        row = self._row(name)
        row = copy(row) if row is not None else self._new(name) if name in self._young_names else None
        return None if row is None else self.complete(row)

    def know(self, names: Iterable[str], rows: Iterable[Metric] | None = None) -> None:
        """The stored rows of these metrics, read at once. `rows`: of who has read them, after the young data."""
        wanted = {name for name in names if name not in self._rows}
        if wanted and rows is None:
            self.load_young()
            rows = Segments(self.attempt, sorted(wanted)).metrics.values()
        self._rows |= dict.fromkeys(wanted) | {row.name: row for row in rows or () if row.name in wanted}

    def load_young(self) -> None:
        """Before anything that is stored: it may move there meanwhile."""
        _ = self.young

    def together(self, ask: Ask) -> list[Together]:
        """The views that are read for it."""
        return [Together([self.view(ask.name, ask.lo, ask.hi)], ask.max_rows, ask.of_middle)]

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
        self.lay_over([name])
        axis, moved = self._axis(name), self._moved(name)
        return View(name, axis, self._row(name), self._changed[name], lo=lo, hi=hi, moved=moved, shelf=self.shelf)

    def lay_over(self, names: Iterable[str]) -> None:
        """Young data over what is stored of these metrics, all at once."""
        wanted = {name for name in names if name not in self._changed}
        built_in, logged = wanted & BUILT_IN, wanted - BUILT_IN
        if built_in:
            self._changed |= dict.fromkeys(built_in, self._advanced(built_in, self._built_in))
        if logged:
            self._changed |= dict.fromkeys(logged, self._advanced(logged, self._segments(logged)))

    def _advanced(self, names: Iterable[str], stored: "_Known") -> dict[Key, Block]:
        needed = {n for name in names for n in (name, *derive.SOURCES.get(name, ()))}
        young = {name: self.young[name] for name in needed if name in self.young}
        if not young:
            return {}
        # At once: otherwise those of every metric that was logged at steps of its own are asked for by themselves.
        stored.blocks({Key(name, 0, block) for name, part in young.items() for block in places(part.index)})
        return advance(young, stored, self.attempt.world_size)

    @cached_property
    def _built_in(self) -> "_Known":
        """What every process counts: kept, for some are derived from others."""
        return self._segments(BUILT_IN)

    def _segments(self, names: Iterable[str]) -> "_Known":
        return _Known(row for name in names if (row := self._row(name)) is not None)

    def _row(self, name: str) -> Metric | None:
        self.know(BUILT_IN if name in BUILT_IN else [name])
        return self._rows[name]

    def _moved(self, name: str) -> int:
        return self.first_step if name in BUILT_IN else 0

    def _axis(self, name: str) -> str:
        row = self._row(name)
        if row is not None:
            return row.axis
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


class _Known(Segments):
    """Segments of metrics whose rows are known; no block is asked for twice, whether it is there or not."""

    def __init__(self, rows: Iterable[Metric]) -> None:
        self.metrics = {row.name: row for row in rows}
        self.loaded = {}
        self._asked: set[Key] = set()

    def blocks(self, keys: set[Key]) -> dict[Key, Block]:
        super().blocks(keys - self._asked)
        self._asked |= keys
        return {key: self.loaded[key] for key in keys if key in self.loaded}
