"""The panels of a run's page: reads the window, then `panels.py` makes the numbers and the sentence."""

from collections.abc import Callable, Iterable
from functools import cached_property

from django.db.models import Max, Min

from webapp.runs.models import Attempt, AttemptNode
from webapp.telemetry import heat_panel, holes, panels, value_panels
from webapp.telemetry.ahead import Ask
from webapp.telemetry.heat_panel import Ground, Group
from webapp.telemetry.onset import ranked_lately
from webapp.telemetry.panel_lines import Draw, Panel, ghost, median_line
from webapp.telemetry.points import BUILT_IN, BUSBW, COMM_TOTAL, LOCAL, STEP, TRANSFER, WAIT
from webapp.telemetry.read import Reader, Series
from webapp.telemetry.run_read import RunReader
from webapp.telemetry.spread import Rank, late_rank, middle_of, noise_of
from webapp.telemetry.thinning import Line
from webapp.telemetry.units import is_of_nodes

_SERIES = {"step_time": (LOCAL, STEP), "phases": (LOCAL, STEP), "comm": (LOCAL, STEP, TRANSFER), "busbw": (BUSBW,)}
_MIDDLES = {"phases": tuple(f"phase/{phase}" for phase in panels.PHASES), "comm": (WAIT,)}
_GHOST_OF = {"step_time": LOCAL, "phases": STEP}
_WHOLE_ROWS = 128  # of the whole run, against which a heatmap is read
_ROWS_PER_PIXEL = 4
_MOST_CELLS = 1_250_000  # steps x ranks of one metric: 1,000 steps of 1,024 ranks are read as they are
_GHOST_WIDTH = 200
METRIC_OF_HEAT = {
    "step": STEP,
    "local": LOCAL,
    "comm_total": COMM_TOTAL,
    **{phase: f"phase/{phase}" for phase in panels.PHASES},
}


def panel(attempt: Attempt, panel_id: str, lo: int | None = None, hi: int | None = None, width: int = 600) -> Panel:
    """One panel in lo <= step (or second) <= hi, at most about `width` points; KeyError for an unknown id."""
    return Charts(Reader(attempt), lo, hi, width).panel(panel_id)


class Charts:
    """Several panels of one window, read at one moment: of an attempt, or of a run with what its attempts repeated."""

    def __init__(self, reader: Reader | RunReader, lo: int | None, hi: int | None, width: int) -> None:
        self.reader, self.attempt, self.lo, self.hi, self.draw = reader, reader.attempt, lo, hi, Draw(width)
        self._read: dict[str, Series] = {}
        self._step_s: float | None = None
        self._ranks: dict[str, list[Rank]] = {}
        self._most_rows = min(width * _ROWS_PER_PIXEL, _MOST_CELLS // max(1, reader.attempt.world_size))

    def asks(self, panel_id: str) -> list[Ask]:
        """The series that a panel will read."""
        kind, _colon, name = panel_id.partition(":")
        if kind == "heat":
            metric = METRIC_OF_HEAT[name]
            return [self._ask(metric), self._ask(STEP), Ask(metric, None, None, _WHOLE_ROWS)]
        if kind == "device":
            return [self._ask(name)]
        if kind in ("value", *value_panels.REDUCTIONS):
            return [self._ask(name, ghosts=kind == "value"), self._ask(STEP)]
        series = [self._ask(one, ghosts=_GHOST_OF.get(kind) == one) for one in _SERIES.get(kind, ())]
        return [*series, *(self._ask(one)._replace(of_middle=True) for one in _MIDDLES.get(kind, ()))]

    def panel(self, panel_id: str) -> Panel:
        """See the module's `panel`."""
        kind, _colon, name = panel_id.partition(":")
        makers = {
            "step_time": self._step_time,
            "phases": self._phases,
            "comm": self._comm,
            "busbw": self._busbw,
            "holes": self._holes,
        }
        if kind == "value":
            found = value_panels.value(self._series(name), self.draw, self._series(STEP)) | self._ghosts(
                name, value_panels.one_line
            )
        elif kind in value_panels.REDUCTIONS:
            found = value_panels.reduced(self._series(name), kind, self.draw, self._series(STEP))
        elif kind == "device":
            found = value_panels.device(self._series(name), self._nodes if is_of_nodes(name) else {}, self.draw)
        elif kind == "heat":
            found = self._heat(name)
        else:
            found = makers[panel_id]()
        return {"id": panel_id, **found}

    def _step_time(self) -> Panel:
        return panels.step_time(self._series(LOCAL), self._ranked(LOCAL), self.draw) | self._ghosts(LOCAL)

    def _phases(self) -> Panel:
        parts = {phase: self._middle(f"phase/{phase}") for phase in panels.PHASES}
        return panels.phases(parts, late_rank(self._ranked(LOCAL)), self._step, self.draw) | self._ghosts(STEP)

    def _comm(self) -> Panel:
        late = late_rank(self._ranked(LOCAL))
        return panels.comm(self._series(TRANSFER), self._middle(WAIT), late, self._step, self.draw)

    def _busbw(self) -> Panel:
        return panels.busbw(self._series(BUSBW), self.draw)

    def _holes(self) -> Panel:
        return holes.panel(self.reader, self.lo, self.hi)

    def _heat(self, phase: str) -> Panel:
        name = METRIC_OF_HEAT[phase]
        whole = self.reader.series(name, max_rows=_WHOLE_ROWS)
        ground = Ground(middle_of(whole.values), noise_of(whole.values), self._step, self._groups)
        return heat_panel.heat(phase, self._series(name), self._ranked(name), ground, self.draw.width)

    def _ghosts(self, name: str, line_of: Callable[[Series], Line] = median_line) -> Panel:
        """What attempts did of a metric that a later one did again; nothing on an attempt's own page."""
        if isinstance(self.reader, Reader):
            return {}
        found = self.reader.ghosts(name, self.lo, self.hi, self._ghost_rows)
        return {"ghosts": [ghost(number, series, line_of(series), _GHOST_WIDTH) for number, series in found]}

    @property
    def _ghost_rows(self) -> int:
        return min(self._most_rows, _GHOST_WIDTH * _ROWS_PER_PIXEL)

    @cached_property
    def _nodes(self) -> dict[int, str]:
        return node_names(self.reader.attempts, "node/")

    @cached_property
    def _groups(self) -> list[Group]:
        return groups_of(self.attempt)

    @cached_property
    def _step(self) -> float:
        if self._step_s is None:
            self._step_s = middle_of(self._series(STEP).values)
        return self._step_s

    def _ranked(self, name: str) -> list[Rank]:
        if name not in self._ranks:
            self._ranks[name] = ranked_lately(self._series(name), self._step)
        return self._ranks[name]

    def _series(self, name: str) -> Series:
        if name not in BUILT_IN:  # read by one panel only
            return self.reader.series(name, self.lo, self.hi, self._most_rows)
        if name not in self._read:
            self._read[name] = self.reader.series(name, self.lo, self.hi, self._most_rows)
        return self._read[name]

    def _ask(self, name: str, *, ghosts: bool = False) -> Ask:
        return Ask(name, self.lo, self.hi, self._most_rows, ghost_rows=self._ghost_rows if ghosts else None)

    def _middle(self, name: str) -> Series:
        return self.reader.middle(name, self.lo, self.hi, self._most_rows)


def groups_of(attempt: Attempt) -> list[Group]:
    """The attempt's nodes with their ranks."""
    names = dict(attempt.parts.values_list("node_rank", "node_name"))
    ranks = attempt.ranks.order_by("node_rank").values_list("node_rank").annotate(Min("rank"), Max("rank"))
    return [Group(names.get(node, f"node {node}"), first, last) for node, first, last in ranks]


def node_names(attempts: Iterable[Attempt], metric: str) -> dict[int, str]:
    """Names of the columns of a metric of nodes; {} for others, whose columns are ranks."""
    if not is_of_nodes(metric):
        return {}
    names: dict[int, list[str]] = {}
    parts = AttemptNode.objects.filter(attempt__in=list(attempts)).order_by("attempt__number", "node_rank")
    for node_rank, name in parts.values_list("node_rank", "node_name"):
        known = names.setdefault(node_rank, [])
        if name not in known:
            known.append(name)
    return {node_rank: ", ".join(known) for node_rank, known in names.items()}
