"""One value for all ranks of a row, and whose it is. Pure."""

from collections.abc import Callable

import numpy as np

from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.series import Series

MIN, MEAN, MAX, MEDIAN, SPREAD, ANY = "min", "mean", "max", "median", "spread", "any"


def over_ranks(series: Series, over: str, above: bool) -> tuple[Floats, Ints]:
    """A value per row, NaN where no rank has one; and the rank (or node) whose extreme it is, -1 where it is nobody's.

    Where rows are rolled up, extremes are those of what was rolled up. ANY is the rank that is nearest to fire:
    the highest when the rule asks what is `above`, the lowest otherwise.
    """
    if over == ANY:
        over = MAX if above else MIN
    source = {MIN: series.mins, MAX: series.maxs}.get(over, series.values)
    values, whose = np.full(series.index.size, np.nan), np.full(series.index.size, -1)
    known = ~np.isnan(source).all(axis=1) if source.size else np.zeros(series.index.size, bool)
    with np.errstate(invalid="ignore", over="ignore"):
        values[known] = _REDUCE[over](source[known])
    if over in _EXTREME:
        at = _EXTREME[over](source[known])
        alone = (source[known] == values[known, None]).sum(axis=1) == 1
        whose[known] = np.where(alone, np.array(series.columns)[at], -1)
    return values, whose


def not_finite(series: Series) -> tuple[Floats, Ints]:
    """Per row a NaN or infinity of a rank, where one has it, else 0; and the rank, -1 where several have one.

    Rolled-up rows tell only that one was there: it is a NaN then.
    """
    bad = series.bad & series.present
    worst = np.where(bad, np.where(np.isfinite(series.values), np.nan, series.values), 0.0)
    first = bad.argmax(axis=1) if bad.size else np.zeros(series.index.size, int)
    rows, several = np.arange(series.index.size), bad.sum(axis=1) != 1
    values = worst[rows, first] if bad.size else np.zeros(series.index.size)
    return values, np.where(several, -1, np.array(series.columns, int)[first] if series.columns else -1)


_EXTREME: dict[str, Callable[[Floats], Ints]] = {
    MIN: lambda rows: np.nanargmin(rows, axis=1),
    MAX: lambda rows: np.nanargmax(rows, axis=1),
}
_REDUCE: dict[str, Callable[[Floats], Floats]] = {
    MIN: lambda rows: np.nanmin(rows, axis=1),
    MEAN: lambda rows: np.nanmean(rows, axis=1),
    MAX: lambda rows: np.nanmax(rows, axis=1),
    MEDIAN: lambda rows: np.nanmedian(rows, axis=1),
    SPREAD: lambda rows: np.nanmax(rows, axis=1) - np.nanmin(rows, axis=1),
}
