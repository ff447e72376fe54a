"""Live frames of one attempt: the page's panels with only the new x, by the same functions as the page's own."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from webapp.live.publish import frame
from webapp.runs.models import Attempt
from webapp.telemetry import holes, panels, value_panels
from webapp.telemetry.blocks import Ints
from webapp.telemetry.charts import METRIC_OF_HEAT, groups_of, node_names
from webapp.telemetry.heat_panel import MOST_ROWS, Ground, heat
from webapp.telemetry.onset import ranked_lately
from webapp.telemetry.panel_lines import Draw, Panel
from webapp.telemetry.points import BUSBW, LOCAL, STEP, TRANSFER, WAIT
from webapp.telemetry.read import Series
from webapp.telemetry.spread import Rank, late_rank, middle_of, noise_of
from webapp.telemetry.units import is_of_link, is_of_nodes
from workers.ingest.window import STEPS, WAIT_S, Fresh, Window
from workers.ingest.young import Young

EVERY_S = 0.2
HOLES_EVERY_S = 1.0
QUIET_HOLES_EVERY_S = 5.0
MOST_CELLS = 6_000  # of all heatmaps of one frame; a page reads by itself what a frame lacks
_UNSEEN_S = 30.0  # of a run that nobody looks at; a page that opens finds what is older in the database
_LOOK_EVERY_S = 0.05  # for steps that wait for a rank, while nothing comes in
_SHARE = 20  # frames of many ranks cost more and come more seldom: a twentieth of the time for each kind
_WORST_EVERY_S = 5.0  # so that equal ranks do not take turns
_HEATS = ("local", "step", "backward", "forward", "data", "exposed_comm", "optimizer", "other", "comm_total")


class Frames:
    """Publishes what is new at most every EVERY_S, while somebody looks at the run."""

    def __init__(self, attempt: Attempt, window: Window, young: Young) -> None:
        self.attempt, self.window, self.young = attempt, window, young
        self.learn_places()
        self._is_watched = True  # until told otherwise, since the process before may have published
        self._next = 0.0
        self._look_at = 0.0
        self._worst: list[int] = []
        self._lately: dict[str, tuple[list[Rank], float, float]] = {}  # of heatmaps, for as long as `_worst` stays
        self._worst_until = 0.0
        self._log_ends: dict[int, int] = {}
        self._holes: list[dict[str, Any]] = []  # as the last frame told them
        self._holes_at = 0.0
        self._older: list[holes.Hole] | None = None

    def learn_places(self) -> None:
        """Read again which ranks are on which node."""
        self._groups = groups_of(self.attempt)
        self._nodes = node_names([self.attempt], "node/")

    def logs(self, ends: dict[int, int]) -> None:
        """Logs that grew to these lengths."""
        self._log_ends |= ends

    def watch(self, now: float, *, is_watched: bool) -> None:
        """Whether somebody looks at the run. A page that comes back later is told that it missed something."""
        if self._is_watched and not is_watched:
            frame(self.attempt.run.uid, "resync")
        self._is_watched = is_watched
        if not is_watched:
            self.window.drop_news(now - _UNSEEN_S)

    def wait_s(self, now: float) -> float | None:
        """Seconds until `publish` has something to do; None when there is nothing."""
        if not self._is_watched or not (self._log_ends or self.window.waiting()):
            return None
        return max(0.0, self._next - now, self._look_at - now)

    def publish(self, now: float) -> None:
        """One round, if it is time."""
        if now < self._next or self.wait_s(now) is None:
            return
        began = time.monotonic()
        fresh, filled = self.window.take(now), self.window.take_filled()
        if filled is not None:
            frame(self.attempt.run.uid, "filled", attempt=self.attempt.number, **{"from": filled[0], "to": filled[1]})
        if fresh:
            made = self._panels(fresh, now)
            frame(self.attempt.run.uid, "panels", attempt=self.attempt.number, panels=made)
        if self._log_ends:
            ends = {str(rank): end for rank, end in sorted(self._log_ends.items())}
            self._log_ends = {}
            frame(self.attempt.run.uid, "log", attempt=self.attempt.number, ranks=ends)
        took = time.monotonic() - began
        if fresh:  # the first frame after a quiet time goes at once
            self._next = now + max(EVERY_S, _SHARE * took)
        self._look_at = now + max(_LOOK_EVERY_S, _SHARE * took)

    def publish_holes(self, now: float) -> None:
        """The holes, if it is time to look and they are others than before."""
        if now < self._holes_at or not self._is_watched:
            return
        began = time.monotonic()
        quiet = self.window.quiet_s(now) > WAIT_S
        if quiet or self._holes or self.window.lacks():
            now_stored = Attempt.objects.get(pk=self.attempt.pk)
            found = self._older_holes() + holes.of_attempt(now_stored, young=self.young.points(holes.NEEDED))
            if found != self._holes:
                self._holes = found
                made = {"holes": holes.as_panel(found)}
                frame(self.attempt.run.uid, "panels", attempt=self.attempt.number, panels=made)
        # What no data comes from may be an attempt of long steps: its node's counts tell at leisure.
        least = QUIET_HOLES_EVERY_S if quiet and not self._holes else HOLES_EVERY_S
        self._holes_at = now + max(least, _SHARE * (time.monotonic() - began))

    def _older_holes(self) -> list[holes.Hole]:
        """Of the attempts before, what this one did not do again. They change no more, or hardly ever."""
        if self._older is None:
            run = Attempt.objects.filter(run=self.attempt.run_id, number__lt=self.attempt.number)
            self._older = [hole for one in run.select_related("run") for hole in holes.of_attempt(one)]
        begin = self.attempt.first_step if self.window.blocks.get(STEP) is not None else None
        return [hole for hole in self._older if begin is None or hole["from"] < begin]

    def _panels(self, fresh: Fresh, now: float) -> dict[str, Panel]:
        made = self._step_panels(fresh.steps, now) if fresh.steps else {}
        for name, indexes in fresh.named.items():
            if is_of_link(name):
                continue  # no page draws them live
            series = self.window.series(name)
            draw = Draw(STEPS + 1, np.array(sorted(indexes)))
            if series.axis == "time":
                names = self._nodes if is_of_nodes(name) else {}
                made[f"device:{name}"] = value_panels.device(series, names, draw)
            else:
                made[f"value:{name}"] = value_panels.value(series, draw, self.window.series(STEP))
        return {panel_id: {"id": panel_id, **panel} for panel_id, panel in made.items()}

    def _step_panels(self, steps: list[int], now: float) -> dict[str, Panel]:
        series = self.window.series
        draw = Draw(STEPS + 1, np.array(steps))
        step = middle_of(series(STEP).values)
        own = series(LOCAL)
        ranks = ranked_lately(own, step)
        late = late_rank(ranks)
        if now >= self._worst_until or (late is not None and self._worst[:1] != [late.rank]):
            self._worst = [rank.rank for rank in ranks[: panels.MOST_WORST]]
            self._worst_until = now + _WORST_EVERY_S
            self._lately.clear()
        made = {
            "step_time": panels.step_time(own, ranks, draw, self._worst),
            "phases": panels.phases({phase: series(f"phase/{phase}") for phase in panels.PHASES}, late, step, draw),
            "comm": panels.comm(series(TRANSFER), series(WAIT), late, step, draw),
            "busbw": panels.busbw(series(BUSBW), draw),
        }
        return made | self._heats(steps, step)

    def _heats(self, steps: list[int], step: float) -> dict[str, Panel]:
        made, cells = {}, 0
        for phase in _HEATS:
            whole = self.window.series(METRIC_OF_HEAT[phase])
            new = _rows(whole, np.flatnonzero(np.isin(whole.index, steps)))
            cells += new.index.size * min(len(new.columns), MOST_ROWS)
            if not new.index.size or cells > MOST_CELLS:
                continue
            if phase not in self._lately:
                self._lately[phase] = ranked_lately(whole, step), middle_of(whole.values), noise_of(whole.values)
            ranks, typical, noise = self._lately[phase]
            made[f"heat:{phase}"] = heat(phase, new, ranks, Ground(typical, noise, step, self._groups), STEPS)
        return made


def _rows(series: Series, at: Ints) -> Series:
    values = series.values[at]
    return replace(
        series,
        index=series.index[at],
        values=values,
        present=series.present[at],
        mins=values,
        maxs=values,
        bad=series.bad[at],
        total=at.size,
    )
