"""Live frames of one attempt: the page's panels with only the new x, by the same functions as the page's own."""

from typing import Any

import numpy as np

from webapp.live.publish import frame
from webapp.runs.models import Attempt
from webapp.telemetry import panels
from webapp.telemetry.charts import METRIC_OF_HEAT, groups_of, late_rank, node_names
from webapp.telemetry.panels import Panel
from webapp.telemetry.points import BUSBW, LOCAL, STEP, TRANSFER, WAIT
from webapp.telemetry.read import Series
from webapp.telemetry.spread import middle_of, ranked
from workers.ingest.window import STEPS, Fresh, Window

EVERY_S = 0.25
MOST_CELLS = 6_000  # of all heatmaps of one frame; a page reads by itself what a frame lacks
_WORST_EVERY_S = 5.0  # so that equal ranks do not take turns
_HEATS = ("local", "step", "backward", "forward", "data", "exposed_comm", "optimizer", "other", "comm_total")


class Frames:
    """Publishes what is new at most every EVERY_S."""

    def __init__(self, attempt: Attempt, window: Window) -> None:
        self.attempt, self.window = attempt, window
        self.learn_places()
        self._next = 0.0
        self._worst: list[int] = []
        self._worst_until = 0.0
        self._log_ends: dict[int, int] = {}

    def learn_places(self) -> None:
        """Read again which ranks are on which node."""
        self._groups = groups_of(self.attempt)
        self._nodes = node_names(self.attempt, "node/")

    def logs(self, ends: dict[int, int]) -> None:
        """Logs that grew to these lengths."""
        self._log_ends |= ends

    def wait_s(self, now: float) -> float | None:
        """Seconds until `publish` has something to do; None when there is nothing."""
        if not self._log_ends and not self.window.waiting():
            return None
        return max(0.0, self._next - now)

    def publish(self, now: float) -> None:
        """One round, if it is time."""
        if now < self._next:
            return
        fresh = self.window.take(now)
        if fresh:
            made = self._panels(fresh, now)
            frame(self.attempt.run.uid, "panels", attempt=self.attempt.number, panels=made)
        if self._log_ends:
            ends = {str(rank): end for rank, end in sorted(self._log_ends.items())}
            self._log_ends = {}
            frame(self.attempt.run.uid, "log", attempt=self.attempt.number, ranks=ends)
        # A step that waits for a rank is looked at again soon; the first frame after quiet goes at once.
        self._next = now + EVERY_S if fresh else now + EVERY_S / 5

    def _panels(self, fresh: Fresh, now: float) -> dict[str, Panel]:
        made = self._step_panels(fresh.steps, now) if fresh.steps else {}
        for name, indexes in fresh.named.items():
            series = self.window.series(name)
            if series.axis == "time":
                names = self._nodes if name.startswith("node/") else {}
                made[f"device:{name}"] = only(panels.device(series, names, STEPS), indexes)
            else:
                made[f"value:{name}"] = only(panels.value(series, STEPS + 1), indexes)
        return {panel_id: {"id": panel_id, **panel} for panel_id, panel in made.items()}

    def _step_panels(self, steps: list[int], now: float) -> dict[str, Panel]:
        series = self.window.series
        width = STEPS + 1
        step = middle_of(series(STEP).values)
        own = series(LOCAL)
        ranks = ranked(own.values, own.columns, step)
        if now >= self._worst_until:
            self._worst, self._worst_until = [rank.rank for rank in ranks[:3]], now + _WORST_EVERY_S
        parts = {phase: series(f"phase/{phase}") for phase in panels.PHASES}
        made = {
            "step_time": panels.step_time(own, step, width, keep=self._worst),
            "phases": panels.phases(parts, step, width),
            "comm": panels.comm(series(TRANSFER), series(WAIT), late_rank(ranks), step, width),
            "busbw": panels.busbw(series(BUSBW), width),
        }
        wanted = set(steps)
        return {name: only(panel, wanted) for name, panel in made.items()} | self._heats(steps, step)

    def _heats(self, steps: list[int], step: float) -> dict[str, Panel]:
        made, cells = {}, 0
        for phase in _HEATS:
            whole = self.window.series(METRIC_OF_HEAT[phase])
            new = _rows(whole, steps)
            cells += new.index.size * min(len(new.columns), panels.MOST_ROWS)
            if not new.index.size or cells > MOST_CELLS:
                continue
            ranks, middle = ranked(whole.values, whole.columns, step), middle_of(whole.values)
            made[f"heat:{phase}"] = panels.heat(
                phase, new, self._groups, step=step, width=STEPS, middle=middle, ranks=ranks
            )
        return made


def only(panel: Panel, indexes: set[int]) -> Panel:
    """The panel with only these x."""
    at = [k for k, x in enumerate(panel["x"]) if x in indexes]
    cut: dict[str, Any] = {name: [column[k] for k in at] for name, column in panel["columns"].items()}
    found = {**panel, "x": [panel["x"][k] for k in at], "columns": cut, "points": len(at)}
    if "nonfinite" in panel:
        found["nonfinite"] = {x: text for x, text in panel["nonfinite"].items() if int(x) in indexes}
    return found


def _rows(series: Series, steps: list[int]) -> Series:
    at = np.flatnonzero(np.isin(series.index, steps))
    return Series(
        series.name,
        series.unit,
        series.axis,
        series.index[at],
        series.columns,
        series.values[at],
        series.present[at],
        series.mins[at],
        series.maxs[at],
        series.bad[at],
        0,
        at.size,
    )
