"""Fewer points for the screen, deterministic: least and greatest of every bucket stay, in their order. Pure."""

from dataclasses import dataclass

import numpy as np

from webapp.telemetry.blocks import Floats, Ints

NO_BREAKS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart before thinning: its least and greatest value per row (equal for raw rows).

    `keep`: "both" draws least and greatest, "low" or "high" only one of them (the edges of a band).
    """

    low: Floats
    high: Floats
    keep: str = "both"


def raw_line(values: Floats, keep: str = "both") -> Line:
    """A line whose rows are single values."""
    return Line(values, values, keep)


def thin(
    index: Ints, lines: dict[str, Line], width: int, stride: int = 1, breaks: Ints = NO_BREAKS
) -> tuple[Ints, dict[str, Floats]]:
    """At most about `width` x, and each line's values there.

    `stride` > 1: rows are roll-ups of so many indexes, so each shows its least and greatest value.
    `breaks`: rows before which something is missing; a row of NaN stands there, and no bucket spans it.
    """
    if stride == 1 and index.size <= width:
        return broken(index, {name: line.low for name, line in lines.items()}, breaks, index[breaks - 1] + 1)
    breaks = _widest(index, breaks, width // 4)
    starts = np.union1d(_starts(index.size, max(1, width // 2)), breaks)
    ends = np.append(starts[1:], index.size) - 1
    last = index[ends] + (stride // 2 if stride > 1 else 0)
    x = np.column_stack([index[starts], last]).ravel()
    pairs = {name: _pairs(line, starts) for name, line in lines.items()}
    return broken(x, pairs, 2 * np.searchsorted(starts, breaks), index[breaks - 1] + stride)


def breaks_in(index: Ints, stride: int = 1) -> Ints:
    """Rows before which indexes are missing."""
    return np.flatnonzero(np.diff(index) > stride) + 1


def broken(x: Ints, columns: dict[str, Floats], rows: Ints, at: Ints) -> tuple[Ints, dict[str, Floats]]:
    """With a row of NaN at the x `at` before each of the rows, so that no line is drawn to it."""
    if not rows.size:
        return x, columns
    return np.insert(x, rows, at), {name: np.insert(column, rows, np.nan) for name, column in columns.items()}


def _widest(index: Ints, breaks: Ints, most: int) -> Ints:
    if breaks.size <= most:
        return breaks
    return np.sort(breaks[np.argsort(index[breaks] - index[breaks - 1])[-max(1, most) :]])


def extremes(total: Floats, width: int) -> Ints:
    """Row numbers to keep so that the rows of least and greatest `total` of every bucket stay."""
    if total.size <= width:
        return np.arange(total.size)
    starts = _starts(total.size, max(1, width // 2))
    low, high = _first(total, np.fmin, starts), _first(total, np.fmax, starts)
    return np.unique(np.concatenate([low, high]))


def bins(count: int, most: int) -> Ints:
    """Where each of at most `most` bins of `count` things starts."""
    return _starts(count, most)


def _starts(rows: int, buckets: int) -> Ints:
    buckets = max(1, min(rows, buckets))
    return (np.arange(buckets) * rows // buckets).astype(np.int64)


def _pairs(line: Line, starts: Ints) -> Floats:
    if not line.low.size:
        return np.zeros(0)
    low, high = np.fmin.reduceat(line.low, starts), np.fmax.reduceat(line.high, starts)
    if line.keep != "both":
        return np.repeat(low if line.keep == "low" else high, 2)
    falls = _first(line.high, np.fmax, starts) < _first(line.low, np.fmin, starts)
    return np.column_stack([np.where(falls, high, low), np.where(falls, low, high)]).ravel()


def _first(values: Floats, pick: np.ufunc, starts: Ints) -> Ints:
    """Row of the first least (or greatest) value of each bucket."""
    best = np.repeat(pick.reduceat(values, starts), np.diff(np.append(starts, values.size)))
    rows = np.where(values == best, np.arange(values.size), values.size - 1)
    return np.asarray(np.minimum.reduceat(rows, starts))
