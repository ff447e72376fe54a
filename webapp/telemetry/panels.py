"""Panels (docs/wire.md) from series: pure, the same for the page, which reads a window, and for live frames."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from webapp.telemetry import findings
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.read import Series
from webapp.telemetry.spread import Rank, median, middle_of, ranked
from webapp.telemetry.thinning import Line, bins, extremes, raw_line, thin

PHASES = ("data", "forward", "backward", "exposed_comm", "optimizer", "other")
MOST_ROWS = 64  # of a heatmap
MOST_CELLS = 40_000  # of one panel
FEW = 4  # ranks of a value that get a line each
_SMOOTH = 0.1

Panel = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """A node's ranks, from first to last."""

    name: str
    first: int
    last: int


def step_time(own: Series, step: float, width: int, keep: list[int] | None = None) -> Panel:
    """Band, median and the worst three ranks of own work. `keep`: rank lines to draw instead of the worst."""
    ranks = ranked(own.values, own.columns, step)
    worst = keep if keep is not None else [rank.rank for rank in ranks[:3]]
    lines = _band(own) | _rank_lines(own, worst)
    n = len(own.columns)
    return _lines(
        own,
        lines,
        width,
        1e3,
        unit="ms",
        worst=[f"rank {rank}" for rank in worst],
        finding=findings.step_time(ranks, middle_of(own.values)),
        reduction=_("min, median and max of %(n)s ranks") % {"n": n} if n > 1 else _("one rank"),
    )


def phases(parts: dict[str, Series], step: float, width: int) -> Panel:
    """The median rank's phases, stacked; whole rows are kept so that a stack is one real step."""
    seen = {name: series for name, series in parts.items() if series.index.size}
    index = _all_indexes(list(seen.values()))
    low = {name: _on(index, series, median(series.values, 1)) for name, series in seen.items()}
    typical = {name: float(median(column[None, :], 1)[0]) for name, column in low.items()}
    rolled = any(series.level for series in seen.values())
    if rolled:
        high = {name: _on(index, series, median(series.maxs, 1)) for name, series in seen.items()}
        stride = _stride(next(iter(seen.values())))
        index = np.column_stack([index, index + stride // 2]).ravel()
        low = {name: np.column_stack([low[name], high[name]]).ravel() for name in seen}
    total = np.sum([np.nan_to_num(column) for column in low.values()], axis=0) if low else np.zeros(0)
    rows = extremes(total, width)
    n = max((len(series.columns) for series in seen.values()), default=0)
    return {
        "unit": "ms",
        "axis": "step",
        "x": _whole(index[rows]),
        "columns": {name: numbers(column[rows] * 1e3, 3) for name, column in low.items()},
        "worst": [],
        "finding": findings.phases(typical, step),
        "reduction": _("median of %(n)s ranks") % {"n": n},
        **_count(rows.size, list(seen.values())),
    }


def comm(transfer: Series, wait: Series, late: Rank | None, step: float, width: int) -> Panel:
    """Transfer, and the median rank's waiting."""
    index = _all_indexes([transfer, wait])
    lines = {
        "transfer": _moved(index, transfer, Line(transfer.mins[:, :1].ravel(), transfer.maxs[:, :1].ravel())),
        "wait": _moved(index, wait, Line(median(wait.mins, 1), median(wait.maxs, 1))),
    }
    x, columns = thin(index, lines, width, _stride(transfer))
    waits = middle_of(wait.values)
    return {
        "unit": "ms",
        "axis": "step",
        "x": _whole(x),
        "columns": {name: numbers(column * 1e3, 3) for name, column in columns.items()},
        "worst": [],
        "finding": findings.comm(middle_of(transfer.values), 0.0 if np.isnan(waits) else waits, step, late),
        "reduction": _("transfer: least of %(n)s ranks; waiting: median of %(n)s ranks") % {"n": len(wait.columns)},
        **_count(x.size, [transfer]),
    }


def busbw(series: Series, width: int) -> Panel:
    """Bus bandwidth of the all-reduce, GB/s."""
    values = series.values[:, 0] if series.columns else np.zeros(0)
    lines = {"busbw": Line(series.mins[:, 0], series.maxs[:, 0])} if series.columns else {"busbw": raw_line(values)}
    cut = max(1, values.size * 4 // 5)
    before, now = (float(median(part[None, :], 1)[0]) if part.size else np.nan for part in (values[:cut], values[cut:]))
    noise = 1.4826 * float(median(np.abs(values[:cut] - before)[None, :], 1)[0]) if values.size else 0.0
    now = before if np.isnan(now) else now
    return _lines(
        series,
        lines,
        width,
        1e-9,
        unit="GB/s",
        worst=[],
        finding=findings.busbw(before, now, noise),
        reduction=_("the rank that waits least"),
    )


def heat(
    phase: str, series: Series, groups: list[Group], *, step: float, width: int, middle: float, ranks: list[Rank]
) -> Panel:
    """Rank x step of one phase. A bin of ranks or steps shows its greatest. `middle`: typical over the whole run."""
    columns = np.array(series.columns, dtype=np.int64)
    starts = bins(columns.size, MOST_ROWS)
    width = max(1, min(width, MOST_CELLS // max(1, starts.size)))
    across = bins(series.index.size, width)
    z = series.maxs.T
    if columns.size:
        z = np.fmax.reduceat(z, starts, axis=0)
    if series.index.size:
        z = np.fmax.reduceat(z, across, axis=1)
    return {
        "unit": "ms",
        "axis": "step",
        "x": _whole(series.index[across]) if series.index.size else [],
        "rows": _row_names(columns, starts),
        "nodes": _node_rows(columns, starts, groups),
        "z": [numbers(row * 1e3, 1) for row in z],
        "range": _range(middle, step),
        "worst": [f"rank {rank.rank}" for rank in ranks[:3]],
        "finding": findings.heat(phase, ranks),
        "reduction": _("every rank") if columns.size <= MOST_ROWS else _("greatest of every bin of ranks"),
        **_count(int(across.size) if series.index.size else 0, [series]),
    }


def value(series: Series, width: int) -> Panel:
    """One logged metric: a line per rank if few, else the band; a smoothed line; what is no number is marked."""
    finite = _finite(series)
    n = len(series.columns)
    lines = _rank_lines(finite, series.columns) if n <= FEW else _band(finite)
    middle = median(finite.values, 1)
    lines["smooth"] = raw_line(_smoothed(middle))
    bad = _nonfinite(series)
    at = np.flatnonzero(~np.isnan(middle))
    ends = [(int(series.index[k]), float(middle[k])) for k in (at[0], at[-1])] if at.size else [(0, np.nan)] * 2
    if not series.index.size:
        finding = findings.nothing()
    else:
        last_bad = (int(list(bad)[-1]), list(bad.values())[-1]) if bad else None
        finding = findings.value(series.name, ends[0], ends[1], last_bad)
    return {
        **_lines(
            finite,
            lines,
            width,
            1.0,
            unit=series.unit,
            worst=[],
            finding=finding,
            reduction=_("each rank") if n <= FEW else _("min, median and max of %(n)s ranks") % {"n": n},
        ),
        "nonfinite": bad,
    }


def device(series: Series, names: dict[int, str], width: int) -> Panel:
    """One device metric by time: a line per rank (or node)."""
    width = max(30, min(width, MOST_CELLS // max(1, len(series.columns))))
    lines = {
        names.get(column, f"rank {column}"): Line(series.mins[:, k], series.maxs[:, k])
        for k, column in enumerate(series.columns)
    }
    now = series.values[-1] if series.index.size else np.zeros(0)
    now = now[np.isfinite(now)]
    middle = float(np.median(now)) if now.size else np.nan
    ends = (float(now.min()), middle, float(now.max())) if now.size else (np.nan, np.nan, np.nan)
    return _lines(
        series,
        lines,
        width,
        1.0,
        unit=series.unit,
        worst=[],
        finding=findings.device(*ends, int(now.size), series.unit),
        reduction=_("each node") if names else _("each rank"),
    )


def numbers(values: Floats, digits: int | None = None) -> list[float | None]:
    """For JSON: null for NaN and infinities."""
    rounded = np.round(values, digits) if digits is not None else values
    return [v if k else None for v, k in zip(rounded.tolist(), np.isfinite(values).tolist(), strict=True)]


def _lines(series: Series, lines: dict[str, Line], width: int, factor: float, **more: Any) -> Panel:
    x, columns = thin(series.index, lines, width, _stride(series))
    digits = 3 if factor != 1.0 else None
    return {
        "unit": more.pop("unit"),
        "axis": series.axis,
        "x": _whole(x),
        "columns": {name: numbers(column * factor, digits) for name, column in columns.items()},
        **more,
        **_count(x.size, [series]),
    }


def _band(series: Series) -> dict[str, Line]:
    if not series.columns:
        return {name: raw_line(np.zeros(0)) for name in ("min", "median", "max")}
    return {
        "min": raw_line(np.fmin.reduce(series.mins, axis=1), "low"),
        "median": raw_line(median(series.values, 1)),
        "max": raw_line(np.fmax.reduce(series.maxs, axis=1), "high"),
    }


def _rank_lines(series: Series, ranks: list[int]) -> dict[str, Line]:
    at = {rank: k for k, rank in enumerate(series.columns)}
    return {f"rank {rank}": Line(series.mins[:, at[rank]], series.maxs[:, at[rank]]) for rank in ranks if rank in at}


def _all_indexes(many: list[Series]) -> Ints:
    if not many:
        return np.zeros(0, np.int64)
    return np.unique(np.concatenate([series.index for series in many]))


def _on(index: Ints, series: Series, column: Floats) -> Floats:
    full = np.full(index.size, np.nan)
    full[np.searchsorted(index, series.index)] = column
    return full


def _moved(index: Ints, series: Series, line: Line) -> Line:
    if not series.columns:
        return raw_line(np.full(index.size, np.nan))
    return Line(_on(index, series, line.low), _on(index, series, line.high), line.keep)


def _stride(series: Series) -> int:
    return int(16**series.level)


def _count(points: int, many: list[Series]) -> dict[str, int]:
    total = max((series.total for series in many), default=0)
    return {"points": min(points, total), "of": total}


def _whole(index: Ints) -> list[int]:
    found: list[int] = index.tolist()
    return found


def _row_names(columns: Ints, starts: Ints) -> list[str]:
    ends = np.append(starts[1:], columns.size) - 1
    pairs = [(int(columns[a]), int(columns[b])) for a, b in zip(starts, ends, strict=True)] if columns.size else []
    return [str(a) if a == b else f"{a}–{b}" for a, b in pairs]


def _node_rows(columns: Ints, starts: Ints, groups: list[Group]) -> list[list[Any]]:
    if not columns.size:
        return []
    rows = []
    for group in groups:
        first, last = np.searchsorted(columns, group.first), np.searchsorted(columns, group.last, "right") - 1
        if first <= last:
            row = np.searchsorted(starts, [first, last], "right") - 1
            rows.append([group.name, int(row[0]), int(row[1])])
    return rows


def _range(middle: float, step: float) -> list[float]:
    """From the run's typical value to half a step above it, in steps that do not move with every new point."""
    half = _nice(0.5e3 * step) if step > 0 else 1.0
    low = 0.0 if np.isnan(middle) else np.floor(middle * 1e3 / (half / 16)) * half / 16
    return [round(float(low), 3), round(float(low + half), 3)]


def _nice(value: float) -> float:
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(k for k in (1, 2, 5, 10) if value <= k * power) * power)


def _finite(series: Series) -> Series:
    def only(values: Floats) -> Floats:
        return np.where(np.isfinite(values), values, np.nan)

    return Series(
        series.name,
        series.unit,
        series.axis,
        series.index,
        series.columns,
        only(series.values),
        series.present,
        only(series.mins),
        only(series.maxs),
        series.bad,
        series.level,
        series.total,
    )


def _nonfinite(series: Series) -> dict[str, str]:
    found = {}
    for row in np.flatnonzero(series.bad.any(axis=1)):
        seen = series.bad[row]
        highs, lows = series.maxs[row][seen], series.mins[row][seen]
        infinite = [v for v in (*highs, *lows) if np.isinf(v)]
        found[str(int(series.index[row]))] = findings.nonfinite(infinite[0] if infinite else np.nan)
    return found


def _smoothed(values: Floats) -> Floats:
    """Exponential mean from the first value on; gaps are bridged, not drawn."""
    out = np.full(values.size, np.nan)
    mean = weight = 0.0
    for k, v in enumerate(values.tolist()):
        if not np.isnan(v):
            mean = (1 - _SMOOTH) * mean + _SMOOTH * v
            weight = (1 - _SMOOTH) * weight + _SMOOTH
            out[k] = mean / weight
    return out
