"""An attempt's stored points as what a rule looks at: one value over time, by the server's clock."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from webapp.alerts import firing
from webapp.alerts.firing import Readings
from webapp.alerts.models import Rule
from webapp.alerts.over_ranks import not_finite, over_ranks
from webapp.runs.models import Attempt
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.merge import stride
from webapp.telemetry.points import EXPOSED, STEP, STEP_END
from webapp.telemetry.read import Reader, Series

MAX_ROWS = 2400  # that are read of a metric; more are rolled up
SLACK_S = 60.0  # that is read beyond what the rule needs
FEWEST = 30  # readings that a look wants to see of a metric that comes rarely
LATE_S = 10.0  # a row that lacks ranks is waited for so long
# Of these a rank has more because it waits for others: whoever has most is not the one to name.
WAITED_FOR = frozenset({STEP, EXPOSED, STEP_END})
_WIDER = 8  # times as many steps, when a look turns out to be too short


@dataclass
class Recorder:
    """Reads one attempt at the moment `until`, epoch seconds."""

    attempt: Attempt
    until: float
    reader: Reader = field(init=False)

    def __post_init__(self) -> None:
        self.reader = Reader(self.attempt)

    def whole(self, rule: Rule) -> Readings | None:
        """All of the attempt. None: it does not have the metric."""
        series = self.reader.series(rule.metric, max_rows=MAX_ROWS)
        return self._readings(rule, series, self._times(series)) if series.index.size else None

    def newest(self, rule: Rule) -> Readings | None:
        """Enough of the end to tell whether the rule fires now. None: the attempt does not have the metric."""
        view = self.reader.view(rule.metric)
        if view.last < 0 and not view.raw_rows():
            return None
        reach = rule.window_s + rule.hold_s + SLACK_S
        back = self._first_guess(view.axis, view.first, view.last, view.raw_rows(), reach)
        while True:
            lo = max(view.first, view.last - back)
            series = self.reader.series(rule.metric, lo=lo, max_rows=MAX_ROWS)
            times = self._times(series)
            if lo == view.first:
                return self._readings(rule, series, times)
            if times.size and times[0] <= min(times[-1], self.until) - reach:
                found = self._readings(rule, series, times, float(times[0]) + rule.window_s)
                if firing.tells_now(found, rule.condition):
                    return found
            back *= _WIDER

    def _first_guess(self, axis: str, first: int, last: int, rows: int, reach: float) -> int:
        """How many indexes to go back."""
        apart = (last - first + 1) / max(rows, 1)
        pace = 1.0 if axis == "time" else self.attempt.run.steps_per_s or 10.0
        return max(int(reach * pace * 1.5), int(FEWEST * apart)) + 1

    def _readings(self, rule: Rule, series: Series, times: Floats, since: float = -np.inf) -> Readings:
        if rule.comparison == firing.NOT_FINITE:
            values, whose = not_finite(series)
        else:
            values, whose = over_ranks(series, rule.over, rule.comparison != firing.BELOW)
        young = ~series.present.all(axis=1) & (times > self.until - LATE_S)
        kept = int(np.argmax(young)) if young.any() else times.size
        times, values = np.maximum.accumulate(times[:kept]), values[:kept]
        if rule.metric in WAITED_FOR or rule.metric.startswith("comm/"):
            whose[:] = -1
        return Readings(times, values, self.until, since, rolled=series.level > 0, whose=whose[:kept])

    def _times(self, series: Series) -> Floats:
        """When each row was: the end of its step at the last rank that made it."""
        if series.axis == "time":
            return series.index.astype(np.float64) + self._offset
        index = _middles(series)
        if not index.size:
            return np.zeros(0)
        ends = self.reader.series(STEP_END, lo=int(series.index[0]) - 1, max_rows=MAX_ROWS)
        if not ends.index.size:
            return self._by_pace(index)
        offsets = np.array([self._offsets.get(rank, 0.0) for rank in ends.columns])
        times: Floats = np.interp(index, _middles(ends), np.nanmax(ends.values + offsets, axis=1))
        return times

    def _by_pace(self, index: Floats) -> Floats:
        """Without the probe: as if all steps of the attempt had taken the same time."""
        begin = self.attempt.started_at or self.attempt.created_at
        end = self.attempt.progress_at or self.attempt.telemetry_at or begin
        last = max(self.attempt.last_step or 0, float(index[-1]), 1.0)
        times: Floats = np.interp(index, [0.0, last], [begin.timestamp(), max(end, begin).timestamp()])
        return times

    @cached_property
    def _offsets(self) -> dict[int, float]:
        """Server minus node, by rank."""
        known = dict(self.attempt.parts.values_list("node_rank", "node__clock_offset"))
        ranks = self.attempt.ranks.values_list("rank", "node_rank")
        return {rank: known.get(node_rank) or 0.0 for rank, node_rank in ranks}

    @property
    def _offset(self) -> float:
        """Of samples, which share their seconds: the one that makes them youngest."""
        return max(self._offsets.values(), default=0.0)


def _middles(series: Series) -> Floats:
    index: Ints = series.index
    return np.asarray(index + (stride(series.level) - 1) / 2, np.float64)
