"""Panels of step times (docs/wire.md) from series: pure, the same for the page and for live frames."""

import numpy as np
from django.utils.translation import gettext as _

from webapp.telemetry import findings
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.panel_lines import (
    Draw,
    Panel,
    all_indexes,
    band,
    chosen,
    count,
    drawn,
    median_line,
    numbers,
    placed,
    rank_lines,
    stride_of,
)
from webapp.telemetry.read import Series
from webapp.telemetry.spread import SHARE, Rank, late_rank, median, middle
from webapp.telemetry.thinning import Line, breaks_in, broken, extremes, raw_line

PHASES = ("data", "forward", "backward", "exposed_comm", "optimizer", "other")
MOST_WORST = 3


def step_time(own: Series, ranks: list[Rank], draw: Draw, keep: list[int] | None = None) -> Panel:
    """Band, median and the worst three ranks of own work. `keep`: rank lines to draw instead of the worst."""
    worst = keep if keep is not None else [rank.rank for rank in ranks[:MOST_WORST]]
    n = len(own.columns)
    return {
        "unit": "ms",
        **drawn(
            [own],
            own.index,
            band(own) | rank_lines(own, worst),
            draw,
            factor=1e3,
            breaks=breaks_in(own.index, stride_of([own])),
        ),
        "worst": [f"rank {rank}" for rank in worst],
        "onset": late.since if (late := late_rank(ranks)) else None,
        "finding": findings.step_time(ranks, middle(np.array([rank.value for rank in ranks]))),
        "reduction": _("min, median and max of %(n)s ranks") % {"n": n} if n > 1 else _("one rank"),
    }


def phases(parts: dict[str, Series], late: Rank | None, step: float, draw: Draw) -> Panel:
    """The median rank's phases, stacked; whole rows are kept so that a stack is one real step. `late`: see `comm`.

    `parts`: of all ranks, or their median.
    """
    seen = {name: series for name, series in parts.items() if series.index.size}
    many = list(seen.values())
    index = all_indexes(many)
    columns = {name: placed(index, series, median(series.values, 1)) for name, series in seen.items()}
    finding = _phases_finding(index, columns, late, step)
    stride = stride_of(many)
    breaks = breaks_in(index, stride)
    gone = index[breaks - 1] + stride
    if stride > 1:  # each roll-up as two rows: its mean, then its greatest
        high = {name: placed(index, series, median(series.maxs, 1)) for name, series in seen.items()}
        index = np.column_stack([index, index + stride // 2]).ravel()
        columns = {name: np.column_stack([columns[name], high[name]]).ravel() for name in seen}
        breaks = 2 * breaks
    total = np.sum([np.nan_to_num(column) for column in columns.values()], axis=0) if columns else np.zeros(0)
    rows = extremes(total, draw.width)
    kept = {name: column[rows] for name, column in columns.items()}
    x, kept = broken(index[rows], kept, *_between(rows, breaks, gone))
    if draw.only is not None:
        at = np.flatnonzero(chosen(x, index, draw.only))
        x, kept = x[at], {name: column[at] for name, column in kept.items()}
    return {
        "unit": "ms",
        "axis": "step",
        "x": x.tolist(),
        "columns": {name: numbers(column * 1e3, 3) for name, column in kept.items()},
        "worst": [],
        "finding": finding,
        "reduction": _("median of %(n)s ranks") % {"n": max((series.ranks for series in many), default=0)},
        **count(rows.size if draw.only is None else x.size, many),
    }


def comm(transfer: Series, wait: Series, late: Rank | None, step: float, draw: Draw) -> Panel:
    """Transfer, and the median rank's waiting. `late`: the rank that is out of line, if one is.

    `wait`: of all ranks, or their median.
    """
    index = all_indexes([transfer, wait])
    lines = {
        "transfer": _on(index, transfer, Line(transfer.mins[:, :1].ravel(), transfer.maxs[:, :1].ravel())),
        "wait": _on(index, wait, median_line(wait)),
    }
    since = late.since if late is not None and late.since is not None else -1
    transfers, waits = (middle(median(one.values[one.index >= since], 1)) for one in (transfer, wait))
    return {
        "unit": "ms",
        **drawn([transfer, wait], index, lines, draw, factor=1e3, breaks=breaks_in(index, stride_of([transfer, wait]))),
        "worst": [],
        "finding": findings.comm(transfers, 0.0 if np.isnan(waits) else waits, step, late),
        "reduction": _("transfer: least of %(n)s ranks; waiting: median of %(n)s ranks") % {"n": wait.ranks},
    }


def busbw(series: Series, draw: Draw) -> Panel:
    """Bus bandwidth of the all-reduce, GB/s. The finding compares the newest fifth with what was before."""
    known = bool(series.columns)
    values = series.values[:, 0] if known else np.zeros(0)
    line = Line(series.mins[:, 0], series.maxs[:, 0]) if known else raw_line(values)
    cut = max(1, values.size * 4 // 5)
    before, now = middle(values[:cut]), middle(values[cut:])
    noise = 1.4826 * middle(np.abs(values[:cut] - before))
    return {
        "unit": "GB/s",
        **drawn([series], series.index, {"busbw": line}, draw, factor=1e-9),
        "worst": [],
        "finding": findings.busbw(before, before if np.isnan(now) else now, noise),
        "reduction": _("the rank that waits least"),
    }


def _phases_finding(index: Ints, columns: dict[str, Floats], late: Rank | None, step: float) -> findings.Finding:
    """What grew when a rank became late; else the largest part."""
    if late is not None and late.since is not None and columns:
        now = index >= late.since
        grown = {name: (middle(column[~now]), middle(column[now])) for name, column in columns.items()}
        name = max(grown, key=lambda key: np.nan_to_num(grown[key][1] - grown[key][0]))
        before, after = grown[name]
        if after - before > SHARE * step:
            return findings.phase_grew(name, before, after, late.since)
    return findings.phases({name: middle(column) for name, column in columns.items()}, step)


def _between(rows: Ints, breaks: Ints, gone: Ints) -> tuple[Ints, Ints]:
    """Of the kept rows those before which something is missing, and where that begins. `gone`: the same of `breaks`."""
    at = np.searchsorted(rows, breaks)
    inside = (at > 0) & (at < rows.size)
    first, where = np.unique(at[inside], return_index=True)
    return first, gone[inside][where]


def _on(index: Ints, series: Series, line: Line) -> Line:
    if not series.columns:
        return raw_line(np.full(index.size, np.nan))
    return Line(placed(index, series, line.low), placed(index, series, line.high))
