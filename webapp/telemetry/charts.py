"""The panels of an attempt's page: reads the window, then `panels.py` makes the numbers and the sentence."""

from webapp.runs.models import Attempt
from webapp.telemetry import heat_panel, panels, value_panels
from webapp.telemetry.heat_panel import Ground, Group
from webapp.telemetry.onset import ranked_lately
from webapp.telemetry.panel_lines import Draw, Panel
from webapp.telemetry.points import BUSBW, COMM_TOTAL, LOCAL, STEP, TRANSFER, WAIT
from webapp.telemetry.read import Reader, Series
from webapp.telemetry.spread import Rank, late_rank, middle_of, noise_of

_ROWS_PER_PIXEL = 4
METRIC_OF_HEAT = {
    "step": STEP,
    "local": LOCAL,
    "comm_total": COMM_TOTAL,
    **{phase: f"phase/{phase}" for phase in panels.PHASES},
}


def panel(attempt: Attempt, panel_id: str, lo: int | None = None, hi: int | None = None, width: int = 600) -> Panel:
    """One panel in lo <= step (or second) <= hi, at most about `width` points; KeyError for an unknown id."""
    return Charts(attempt, lo, hi, width).panel(panel_id)


class Charts:
    """Several panels of one window, read at one moment."""

    def __init__(self, attempt: Attempt, lo: int | None, hi: int | None, width: int) -> None:
        self.attempt, self.lo, self.hi, self.draw = attempt, lo, hi, Draw(width)
        self.reader = Reader(attempt)
        self._read: dict[str, Series] = {}

    def panel(self, panel_id: str) -> Panel:
        """See the module's `panel`."""
        kind, _colon, name = panel_id.partition(":")
        makers = {"step_time": self._step_time, "phases": self._phases, "comm": self._comm, "busbw": self._busbw}
        if kind == "value":
            found = value_panels.value(self._series(name), self.draw)
        elif kind == "device":
            found = value_panels.device(self._series(name), node_names(self.attempt, name), self.draw)
        elif kind == "heat":
            found = self._heat(name)
        else:
            found = makers[panel_id]()
        return {"id": panel_id, **found}

    def _step_time(self) -> Panel:
        return panels.step_time(self._series(LOCAL), self._ranked(LOCAL), self.draw)

    def _phases(self) -> Panel:
        parts = {phase: self._series(f"phase/{phase}") for phase in panels.PHASES}
        return panels.phases(parts, late_rank(self._ranked(LOCAL)), self._step(), self.draw)

    def _comm(self) -> Panel:
        late = late_rank(self._ranked(LOCAL))
        return panels.comm(self._series(TRANSFER), self._series(WAIT), late, self._step(), self.draw)

    def _busbw(self) -> Panel:
        return panels.busbw(self._series(BUSBW), self.draw)

    def _heat(self, phase: str) -> Panel:
        name = METRIC_OF_HEAT[phase]
        whole = self.reader.series(name, max_rows=128)
        ground = Ground(middle_of(whole.values), noise_of(whole.values), self._step(), groups_of(self.attempt))
        return heat_panel.heat(phase, self._series(name), self._ranked(name), ground, self.draw.width)

    def _step(self) -> float:
        return middle_of(self._series(STEP).values)

    def _ranked(self, name: str) -> list[Rank]:
        return ranked_lately(self._series(name), self._step())

    def _series(self, name: str) -> Series:
        if name not in self._read:
            self._read[name] = self.reader.series(name, self.lo, self.hi, self.draw.width * _ROWS_PER_PIXEL)
        return self._read[name]


def groups_of(attempt: Attempt) -> list[Group]:
    """The attempt's nodes with their ranks."""
    names = dict(attempt.parts.values_list("node_rank", "node_name"))
    ranks: dict[int, list[int]] = {}
    for rank, node_rank in attempt.ranks.values_list("rank", "node_rank"):
        ranks.setdefault(node_rank, []).append(rank)
    return [Group(names.get(node, f"node {node}"), min(found), max(found)) for node, found in sorted(ranks.items())]


def node_names(attempt: Attempt, metric: str) -> dict[int, str]:
    """Names of the columns of a `node/*` metric; {} for others, whose columns are ranks."""
    if not metric.startswith("node/"):
        return {}
    return {part.node_rank: part.node_name for part in attempt.parts.all()}
