"""Panels of what a script logged and of device metrics. Pure."""

from dataclasses import replace

import numpy as np
from django.utils.translation import gettext as _

from webapp.telemetry import findings
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.panel_lines import MOST_CELLS, Draw, Panel, band, drawn, median_line, rank_lines, stride_of
from webapp.telemetry.read import Series
from webapp.telemetry.spread import median
from webapp.telemetry.thinning import NO_BREAKS, Line, breaks_in, raw_line

FEW = 4  # ranks that get a line each
REDUCTIONS = ("mean", "min", "max")  # over ranks, for who asks for one line
_SMOOTH = 0.1
_CALM = 2.0  # times its range that a value goes up and down: then it is drawn as it is
_LEAST_WIDTH = 30
_LONGEST_SILENCE = 5  # seconds between two samples that are still one line
_RECENT = 10  # seconds in which each rank is sampled at least once


def value(series: Series, draw: Draw, steps: Series | None = None) -> Panel:
    """One logged metric: a line per rank if few, else the band; a smoothed line; what is no number is marked.

    `steps`: a metric of every step in the same window; where it lacks many, values are missing too.
    """
    finite = _finite(series)
    n = len(series.columns)
    typical = median(finite.values, 1)
    lines = rank_lines(finite, series.columns) if n <= FEW else band(finite)
    lines["smooth"] = raw_line(_smoothed(typical))
    bad = _nonfinite(series)
    return {
        "unit": series.unit,
        **drawn([finite], finite.index, lines, draw, breaks=_breaks(finite, steps)),
        "worst": [],
        "finding": _finding(series, typical, bad),
        "reduction": _("each rank") if n <= FEW else _("min, median and max of %(n)s ranks") % {"n": n},
        "nonfinite": {str(x): text for x, text in bad.items() if draw.only is None or x in draw.only},
    }


def reduced(series: Series, over: str, draw: Draw, steps: Series | None = None) -> Panel:
    """One logged metric as one line, `over` the ranks that have a value: their mean in a band of one standard deviation
    (`low` to `high`; of all of them, not of a sample), their least or their greatest. `steps` as above.
    """
    finite, bad = _finite(series), _nonfinite(series)
    n, lines = len(series.columns), _over(finite, over)
    texts = {
        "mean": _("mean and standard deviation of %(n)s ranks"),
        "min": _("least of %(n)s ranks"),
        "max": _("greatest of %(n)s ranks"),
    }
    return {
        "unit": series.unit,
        **drawn([finite], finite.index, lines, draw, breaks=_breaks(finite, steps)),
        "worst": [],
        "finding": _finding(series, lines[over].low, bad),
        "reduction": _("one rank") if n == 1 else texts[over] % {"n": n},
        "nonfinite": {str(x): what for x, what in bad.items()},
    }


def one_line(series: Series) -> Line:
    """What stands for a value where there is room for one line: the first of few ranks, else the median."""
    if len(series.columns) > FEW:
        return median_line(series)
    return Line(series.mins[:, 0], series.maxs[:, 0])


def device(series: Series, names: dict[int, str], draw: Draw) -> Panel:
    """One device metric by time: a line per rank, or per node by its name."""
    lines = {
        names.get(column, f"rank {column}"): Line(series.mins[:, k], series.maxs[:, k])
        for k, column in enumerate(series.columns)
    }
    width = max(_LEAST_WIDTH, min(draw.width, MOST_CELLS // max(1, len(series.columns))))
    now = _newest(series.values[-_RECENT:])
    low, middle, high = (float(f(now)) for f in (np.min, np.median, np.max)) if now.size else (np.nan,) * 3
    return {
        "unit": series.unit,
        **drawn([series], series.index, lines, replace(draw, width=width), breaks=_silences(series.index)),
        "worst": [],
        "finding": findings.device(low, middle, high, int(now.size), series.unit, of_nodes=bool(names)),
        "reduction": _("each node") if names else _("each rank"),
    }


def _over(series: Series, over: str) -> dict[str, Line]:
    if not series.columns:
        return {over: raw_line(np.zeros(0))}
    if over != "mean":
        return {over: raw_line(np.fmin.reduce(series.mins, 1) if over == "min" else np.fmax.reduce(series.maxs, 1))}
    known = np.isfinite(series.values)
    count = np.where(known.any(axis=1), known.sum(axis=1), np.nan)
    mean = np.where(known, series.values, 0.0).sum(axis=1) / count
    away = np.sqrt(np.where(known, (series.values - mean[:, None]) ** 2, 0.0).sum(axis=1) / count)
    return {"mean": raw_line(mean), "low": raw_line(mean - away, "low"), "high": raw_line(mean + away, "high")}


def _breaks(series: Series, steps: Series | None) -> Ints:
    """Rows before which at least as many steps are missing as usually lie between two values."""
    if steps is None or series.index.size < 2:
        return NO_BREAKS
    ends = breaks_in(steps.index, stride_of([steps]))
    first, last = steps.index[ends - 1] + stride_of([steps]), steps.index[ends] - 1
    wide = last - first + 1 >= np.median(np.diff(series.index))
    rows = np.searchsorted(series.index, first[wide])
    inside = (rows > 0) & (rows < series.index.size)
    rows, last = rows[inside], last[wide][inside]
    return np.unique(rows[series.index[rows] > last])


def _silences(seconds: Ints) -> Ints:
    """Rows before which nothing was sampled for longer than usual: between attempts, or while a node was not heard."""
    if seconds.size < 2:
        return NO_BREAKS
    between = np.diff(seconds)
    return np.flatnonzero(between > max(_LONGEST_SILENCE, 3 * int(np.median(between)))) + 1


def _newest(values: Floats) -> Floats:
    """The last number of each column that has one: ranks are sampled at seconds of their own."""
    if not values.size:
        return np.zeros(0)
    known = np.isfinite(values)
    last = values.shape[0] - 1 - np.argmax(known[::-1], axis=0)
    newest: Floats = values[last, np.arange(values.shape[1])]
    return newest[known.any(axis=0)]


def _finding(series: Series, typical: Floats, bad: dict[int, str]) -> findings.Finding:
    if not series.index.size:
        return findings.nothing()
    at: Ints = np.flatnonzero(~np.isnan(typical))
    ends = [(int(series.index[k]), float(typical[k])) for k in (at[0], at[-1])] if at.size else [(0, np.nan)] * 2
    lasting = [step for step in bad if not at.size or step > ends[1][0]]
    shown = min(lasting) if lasting else max(bad, default=None)
    return findings.value(series.name, ends[0], ends[1], None if shown is None else (shown, bad[shown]))


def _finite(series: Series) -> Series:
    def only(values: Floats) -> Floats:
        return np.where(np.isfinite(values), values, np.nan)

    return replace(series, values=only(series.values), mins=only(series.mins), maxs=only(series.maxs))


def _nonfinite(series: Series) -> dict[int, str]:
    found = {}
    for row in np.flatnonzero(series.bad.any(axis=1)):
        seen = series.bad[row]
        infinite = [v for v in (*series.maxs[row][seen], *series.mins[row][seen]) if np.isinf(v)]
        found[int(series.index[row])] = findings.nonfinite(infinite[0] if infinite else np.nan)
    return found


def _smoothed(values: Floats) -> Floats:
    """Exponential mean from the first value on; gaps are bridged, not drawn. Nothing to smooth: as it is."""
    known = values[~np.isnan(values)]
    if known.size and np.abs(np.diff(known)).sum() <= _CALM * np.ptp(known):
        return values
    out = np.full(values.size, np.nan)
    mean = weight = 0.0
    for k, v in enumerate(values.tolist()):
        if v == v:  # noqa: PLR0124  not NaN, at a tenth of the cost of np.isnan
            mean = (1 - _SMOOTH) * mean + _SMOOTH * v
            weight = (1 - _SMOOTH) * weight + _SMOOTH
            out[k] = mean / weight
    return out
