"""How ranks lie to each other: medians, and who is out of line. Pure; NaN is a gap."""

from dataclasses import dataclass

import numpy as np

from webapp.telemetry.blocks import Floats

_SCALE = 1.4826  # MAD to standard deviation
_Z = 4.0
_LEAST_NOISE = 0.01  # of the middle
_SHARE = 0.05  # of a step


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank's typical value in a window, and how far it is above the middle of all ranks."""

    rank: int
    value: float
    more: float
    stands_out: bool


def median(values: Floats, axis: int) -> Floats:
    """Median over an axis, gaps left out; NaN where nothing is."""
    ordered = np.moveaxis(np.sort(values, axis=axis), axis, 0)  # NaN goes last
    n = ordered.shape[0]
    if not n:
        return np.full(ordered.shape[1:], np.nan)
    if not np.isnan(ordered[-1]).any():
        return _between(ordered[(n - 1) // 2], ordered[n // 2])
    count = np.sum(~np.isnan(ordered), axis=0)[None]
    low = np.take_along_axis(ordered, np.maximum((count - 1) // 2, 0), axis=0)[0]
    high = np.take_along_axis(ordered, np.minimum(count // 2, n - 1), axis=0)[0]
    return np.where(count[0] > 0, _between(low, high), np.nan)


def ranked(values: Floats, columns: list[int], step: float) -> list[Rank]:
    """Ranks by how much they take more than the middle, most first. `step`: the whole step's typical time.

    A rank stands out when it is above the middle by 5 % of a step and by four times the noise of the others.
    """
    typical = median(values, axis=0)
    seen = np.flatnonzero(~np.isnan(typical))
    known = typical[seen]
    if known.size < 2:
        return [Rank(columns[k], float(typical[k]), 0.0, False) for k in seen]
    # Of two ranks the middle is between them: compare with the other one.
    ground = known[::-1] if known.size == 2 else np.full(known.size, np.median(known))
    noise = np.maximum(_SCALE * _spread_of_others(known), _LEAST_NOISE * ground)
    more = known - ground
    out = (more > _SHARE * step) & (more > _Z * noise)
    found = zip(seen.tolist(), known.tolist(), more.tolist(), out.tolist(), strict=True)
    ranks = [Rank(columns[k], value, above, stands_out) for k, value, above, stands_out in found]
    return sorted(ranks, key=lambda rank: (-rank.more, rank.rank))


def middle_of(values: Floats) -> float:
    """The median of the ranks' medians; NaN when nothing is there."""
    return middle(median(values, axis=0))


def middle(values: Floats) -> float:
    """The median of a row of numbers; NaN when nothing is there."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else float("nan")


def _spread_of_others(known: Floats) -> Floats:
    """For each number the median distance of all others from their own median."""
    n = known.size
    others = np.broadcast_to(known, (n, n))[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    centre = np.median(others, axis=1, keepdims=True)
    return np.asarray(np.median(np.abs(others - centre), axis=1))


def _between(low: Floats, high: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where(low == high, low, low + (high - low) / 2)
