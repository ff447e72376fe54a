"""Fewer points for the screen, deterministic: least and greatest of every bucket stay, in their order. Pure."""

from dataclasses import dataclass

import numpy as np

from webapp.telemetry.blocks import Floats, Ints


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


def thin(index: Ints, lines: dict[str, Line], width: int, stride: int = 1) -> tuple[Ints, dict[str, Floats]]:
    """At most about `width` x, and each line's values there.

    `stride` > 1: rows are roll-ups of so many indexes, so each shows its least and greatest value.
    """
    if stride == 1 and index.size <= width:
        return index, {name: line.low for name, line in lines.items()}
    starts = _starts(index.size, max(1, width // 2))
    ends = np.append(starts[1:], index.size) - 1
    last = index[ends] + (stride // 2 if stride > 1 else 0)
    x = np.column_stack([index[starts], last]).ravel()
    return x, {name: _pairs(line, starts) for name, line in lines.items()}


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
