"""One metric of one run as a line for the screen. Pure: series in, numbers out."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from webapp.compare.smoothing import smoothed
from webapp.compare.summary import Came
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.panel_lines import stride_of
from webapp.telemetry.series import Series
from webapp.telemetry.spread import median
from webapp.telemetry.thinning import Line, raw_line, thin

AXES = ("step", "time", "relative")
_DIGITS = 5  # significant ones of a drawn value
_MOST_POINTS = 9_000  # of all lines of a reply together: under 300 kB
_FEWEST, _PER_PIXEL = 60, 2


@dataclass(frozen=True, slots=True)
class Clock:
    """When each step of a run ended, epoch seconds. Empty where no step was timed."""

    steps: Floats
    ends: Floats

    def at(self, index: Ints, axis: str, wanted: str) -> Floats | None:
        """Steps or epoch seconds (`axis`) as what is `wanted`: step, time, or relative to the first step's end.

        None where the run's steps were not timed, so that one cannot be told from the other.
        """
        x = index.astype(float)
        if wanted == axis:
            return x
        if not self.ends.size:
            return None
        if wanted == "step":
            return np.asarray(np.interp(x, self.ends, self.steps))
        moment = x if axis == "time" else np.interp(x, self.steps, self.ends)
        return np.asarray(moment - self.ends[0] if wanted == "relative" else moment)

    def index(self, x: float, axis: str, drawn: str) -> float | None:
        """The step or epoch second (`axis`) that a chart by `drawn` has at `x`: `at` the other way round."""
        if drawn == axis:
            return x
        if not self.ends.size:
            return None
        if drawn == "step":
            return float(np.interp(x, self.steps, self.ends))
        moment = x + float(self.ends[0]) if drawn == "relative" else x
        return moment if axis == "time" else float(np.interp(moment, self.ends, self.steps))


NO_CLOCK = Clock(np.zeros(0), np.zeros(0))


def clock_of(ends: Series) -> Clock:
    """From the times at which the ranks ended each step: the last rank's counts."""
    last = np.fmax.reduce(ends.values, axis=1) if ends.columns else np.zeros(0)
    known = np.isfinite(last)
    return Clock(ends.index[known].astype(float), np.maximum.accumulate(last[known]))


def points_for(width: int, runs: int) -> int:
    """Points of one line when `runs` lines share a chart of so many pixels."""
    return max(_FEWEST, min(width * _PER_PIXEL, _MOST_POINTS // max(1, runs)))


def curve(
    series: Series, clock: Clock, wanted: str, weight: float, points: int, *, first: float | None = None
) -> dict[str, Any] | None:
    """`{x, y, s, of}`: the median rank, least and greatest of each bucket kept, and its smoothed line.

    `s` is left out without smoothing. Seconds become ms. None when there is nothing that this axis can show.
    `first`: what is before this index is not drawn, but the smoothed line comes from there.
    """
    if not series.columns or not series.index.size:
        return None
    low, middle, high = (median(_finite(one), 1) for one in (series.mins, series.values, series.maxs))
    lines = {"y": Line(low, high)}
    if weight > 0:
        lines["s"] = raw_line(smoothed(series.index.astype(float), middle, weight))
    shown = slice(0 if first is None else int(np.searchsorted(series.index, first)), None)
    lines = {name: Line(line.low[shown], line.high[shown]) for name, line in lines.items()}
    index, columns = thin(series.index[shown], lines, points, stride_of([series]))
    x = clock.at(index, series.axis, wanted)
    if x is None or not index.size:
        return None
    factor = 1e3 if series.unit == "s" else 1.0
    whole = wanted == "step" and series.axis == "step"
    drawn = {name: short(column * factor) for name, column in columns.items()}
    return {"x": index.tolist() if whole else np.round(x, 1).tolist(), **drawn, "of": series.total}


def came(series: Series) -> Came | None:
    """Of the median rank: its newest value, and its least and greatest. Seconds become ms."""
    if not series.columns or not series.index.size:
        return None
    low, middle, high = (median(_finite(one), 1) for one in (series.mins, series.values, series.maxs))
    known = middle[np.isfinite(middle)]
    if not known.size:
        return None
    factor = 1e3 if series.unit == "s" else 1.0
    return Came(*(float(v) * factor for v in (known[-1], np.nanmin(low), np.nanmax(high))))


def short(values: Floats, digits: int = _DIGITS) -> list[float | None]:
    """For JSON: as many significant digits as a screen shows, null for what is no number."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in values.tolist()]


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)
