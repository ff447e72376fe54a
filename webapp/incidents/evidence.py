"""Which charts prove an incident, and their numbers around its onset."""

from collections.abc import Callable

import numpy as np
from django.utils.translation import gettext as _

from webapp.incidents import charts, words
from webapp.incidents.charts import Subject
from webapp.incidents.models import Incident
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.charts import Charts
from webapp.telemetry.models import Metric
from webapp.telemetry.panel_lines import Panel
from webapp.telemetry.panels import PHASES
from webapp.telemetry.points import EXPOSED, LOCAL, STEP
from webapp.telemetry.read import Reader, Series
from webapp.telemetry.spread import median

BEFORE, AFTER = 60, 240  # steps around the onset that the charts show
_WIDTH = 600
_BY_OWN_WORK = ("cpu", "gpu", "unknown")
_CLOCKS = {"gpu": ("device:gpu/sm_clock", "device:gpu/temperature"), "cpu": ("device:rank/cpu",)}
_OF_KIND: dict[str, tuple[str, ...]] = {
    "wandering": ("heat:local", "phases"),
    "structural": ("heat:local", "phases"),
    "regression": ("before", "parts_before"),
    "network": ("transfer", "links", "phases"),
    "input": ("phases", "heat:data"),
    "overlap": ("transfer", "parts_before"),
    "hang": ("heat:local", "phases"),
    "telemetry": ("heat:local",),
    "alone": ("phases",),
    "idle": ("device:gpu/util",),
}


def ids_of(row: Incident) -> list[str]:
    """The charts of this incident, the most telling one first."""
    if row.kind in _OF_KIND:
        found = list(_OF_KIND[row.kind])
    elif row.rank is None and row.node_rank is None:
        found = ["heat:local"]
    else:
        found = [f"own:{part_of(row)}", "parts", "heat:local"]
    clocks = _CLOCKS.get("gpu" if row.kind == "device" else row.cause, ())
    return [name for name in (*found, *clocks) if name != "links" or row.evidence.get("links")]


def shown(row: Incident) -> list[str]:
    """Of them those that have numbers: not every machine tells of its devices."""
    if window_of(row) is None:
        return []
    stored = set(Metric.objects.filter(attempt=row.attempt, axis="time").values_list("name", flat=True))
    return [name for name in ids_of(row) if not name.startswith("device:") or name.removeprefix("device:") in stored]


def part_of(row: Incident) -> str:
    """The part of a step in which the subject is late; all its own work where it is not one part."""
    return row.cause if row.cause in PHASES else "local"


def window_of(row: Incident) -> tuple[int, int] | None:
    """First and last step that the charts show; None when no step is known."""
    last = row.seen_step if row.seen_step is not None else row.attempt.last_step
    onset = row.opened_step if row.opened_step is not None else last
    if onset is None or last is None:
        return None
    return onset - BEFORE, max(onset + BEFORE, min(last + BEFORE // 3, onset + AFTER))


def panels(row: Incident, ids: list[str]) -> dict[str, Panel]:
    """The numbers of these charts, read at one moment; {} when no step is known."""
    window = window_of(row)
    if window is None:
        return {}
    evidence = _Evidence(row, *window)
    return {name: {**evidence.panel(name), "id": name} for name in ids}


class _Evidence:
    """Charts of one window of the incident's attempt."""

    def __init__(self, row: Incident, lo: int, hi: int) -> None:
        self.row, self.lo, self.hi = row, lo, hi
        self.reader = Reader(row.attempt)

    def panel(self, name: str) -> Panel:
        kind, _colon, part = name.partition(":")
        makers: dict[str, Callable[[], Panel]] = {
            "own": lambda: self._against_others(part),
            "heat": lambda: self._heat(name, part),
            "parts": lambda: charts.parts_of(self._parts(), self._subject()),
            "parts_before": lambda: charts.parts_now(self._parts(), self._usual(), self.row.opened_step),
            "before": self._before,
            "transfer": self._transfer,
            "links": self._links,
        }
        return makers[kind]() if kind in makers else self._of_run(name)

    def _against_others(self, part: str) -> Panel:
        return charts.against_others(self._series(part), self._subject(), part)

    def _heat(self, name: str, part: str) -> Panel:
        """Of a rank or node it says how late that is since the onset; the steps before hide it from the run's words."""
        panel = self._of_run(name)
        late = self.row.kind == "straggler" and self._subject().ranks
        return {**panel, "finding": self._against_others(part)["finding"]} if late else panel

    def _before(self) -> Panel:
        step = self.reader.series(STEP, self.lo, self.hi)
        return self._against_usual("step", step.index, median(step.values, 1))

    def _links(self) -> Panel:
        names = dict(self.row.attempt.parts.values_list("node_rank", "node_name"))
        return charts.links(self.row.evidence["links"], names, self.row.link)

    def _of_run(self, name: str) -> Panel:
        """A chart that the run's page has too."""
        lo, hi = (self._second(self.lo), self._second(self.hi)) if name.startswith("device:") else (self.lo, self.hi)
        return Charts(self.reader, lo, hi, _WIDTH).panel(name)

    def _second(self, step: int) -> int | None:
        ends = self.reader.series("step/end", step, step)
        return int(ends.values[ends.present].max()) if ends.present.any() else None

    def _transfer(self) -> Panel:
        """As the detectors see it: the communication of the rank that waits least."""
        exposed = self.reader.series(EXPOSED, self.lo, self.hi)
        least = np.fmin.reduce(exposed.values, axis=1) if exposed.columns else np.zeros(0)
        return self._against_usual("transfer", exposed.index, least)

    def _against_usual(self, what: str, index: Ints, now: Floats) -> Panel:
        usual = self._usual().get(what) or [float(self.row.evidence.get("usual", 0.0)), 0.0]
        return charts.against_usual(index, now, usual, what, self.row.opened_step)

    def _series(self, part: str) -> Series:
        return self.reader.series(LOCAL if part == "local" else f"phase/{part}", self.lo, self.hi)

    def _parts(self) -> dict[str, Series]:
        return {part: self._series(part) for part in PHASES}

    def _usual(self) -> dict[str, list[float]]:
        watch = getattr(self.row.attempt, "watch", None)
        return watch.baseline if watch else {}

    def _subject(self) -> Subject:
        name = words.short(self.row)
        title = name if self.row.rank is None else _("Rank %s") % self.row.rank
        return Subject(frozenset(words.ranks_of(self.row)), name, title, self.row.opened_step)
