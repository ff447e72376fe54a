"""What the panels have in common: lines of series, thinned, as JSON numbers. Pure."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from webapp.telemetry.blocks import Bools, Floats, Ints
from webapp.telemetry.points import BUILT_IN
from webapp.telemetry.read import Series
from webapp.telemetry.spread import median
from webapp.telemetry.thinning import NO_BREAKS, Line, breaks_in, raw_line, thin

MOST_CELLS = 40_000  # numbers of one panel

Panel = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Draw:
    """About how many x to draw; in a live frame `only` those x, while the finding speaks of all."""

    width: int
    only: Ints | None = None


def drawn(
    series: list[Series],
    index: Ints,
    lines: dict[str, Line],
    draw: Draw,
    *,
    factor: float = 1.0,
    breaks: Ints = NO_BREAKS,
) -> dict[str, Any]:
    """`axis`, `x`, `columns`, `points` and `of` of a panel whose lines lie on `index`; values are times `factor`.

    `breaks`: rows before which something is missing.
    """
    shown = breaks if index.size else NO_BREAKS
    x, columns = thin(index, lines, draw.width, stride_of(series), shown)
    drawn_points = x.size - shown.size
    if draw.only is not None:
        at = np.flatnonzero(chosen(x, index, draw.only))
        x, columns = x[at], {name: column[at] for name, column in columns.items()}
        drawn_points = x.size
    digits = 3 if factor != 1.0 else None
    return {
        "axis": series[0].axis if series else "step",
        "x": x.tolist(),
        "columns": {name: numbers(column * factor, digits) for name, column in columns.items()},
        **count(drawn_points, series),
    }


def stride_of(series: list[Series]) -> int:
    """Indexes that a row stands for."""
    return int(16 ** max((one.level for one in series), default=0))


def chosen(x: Ints, index: Ints, only: Ints) -> Bools:
    """Which x a live frame holds: the new ones, and the gaps right before them."""
    new = np.isin(x, only)
    before_new = np.append(new[1:], False)
    return np.asarray(new | (before_new & ~np.isin(x, index)))


def band(series: Series) -> dict[str, Line]:
    """Least, median and greatest of the ranks."""
    if not series.columns:
        return {name: raw_line(np.zeros(0)) for name in ("min", "median", "max")}
    return {
        "min": raw_line(np.fmin.reduce(series.mins, axis=1), "low"),
        "median": raw_line(median(series.values, 1)),
        "max": raw_line(np.fmax.reduce(series.maxs, axis=1), "high"),
    }


def median_line(series: Series) -> Line:
    """The median rank."""
    low = median(series.mins, 1)
    return Line(low, low if series.maxs is series.mins else median(series.maxs, 1))


def ghost(attempt: int, series: Series, line: Line, width: int) -> Panel:
    """`{attempt, x, y}`: a faint line of what a later attempt did again; seconds as ms."""
    stride = stride_of([series])
    breaks = breaks_in(series.index, stride) if series.name in BUILT_IN else NO_BREAKS
    x, columns = thin(series.index, {"y": line}, width, stride, breaks)
    seconds = series.unit == "s"
    y = numbers(columns["y"] * 1e3, 3) if seconds else numbers(columns["y"])
    return {"attempt": attempt, "x": x.tolist(), "y": y}


def rank_lines(series: Series, ranks: list[int]) -> dict[str, Line]:
    """A line for each of these ranks."""
    at = {rank: k for k, rank in enumerate(series.columns)}
    return {f"rank {rank}": Line(series.mins[:, at[rank]], series.maxs[:, at[rank]]) for rank in ranks if rank in at}


def all_indexes(many: list[Series]) -> Ints:
    """The indexes of several series together."""
    return np.unique(np.concatenate([one.index for one in many])) if many else np.zeros(0, np.int64)


def placed(index: Ints, series: Series, column: Floats) -> Floats:
    """A column of a series on a wider index, gaps where the series has none."""
    full = np.full(index.size, np.nan)
    full[np.searchsorted(index, series.index)] = column
    return full


def count(points: int, series: list[Series]) -> dict[str, int]:
    """How many of how many indexes are drawn."""
    total = max((one.total for one in series), default=0)
    return {"points": min(points, total), "of": total}


def numbers(values: Floats, digits: int | None = None) -> list[float | None]:
    """For JSON: null for NaN and infinities."""
    rounded = np.round(values, digits) if digits is not None else values
    finite = np.isfinite(values)
    if bool(finite.all()):
        return rounded.tolist()  # type: ignore[no-any-return]
    return [v if k else None for v, k in zip(rounded.tolist(), finite.tolist(), strict=True)]
