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
    ordered = np.sort(values, axis=axis)  # NaN goes last
    count = np.sum(~np.isnan(values), axis=axis, keepdims=True)
    if not values.shape[axis]:
        return np.full(np.delete(np.array(values.shape), axis), np.nan)
    low = np.take_along_axis(ordered, np.maximum((count - 1) // 2, 0), axis=axis)
    high = np.take_along_axis(ordered, np.minimum(count // 2, values.shape[axis] - 1), axis=axis)
    with np.errstate(invalid="ignore"):
        middle = np.where(low == high, low, low + (high - low) / 2)
    return np.squeeze(np.where(count > 0, middle, np.nan), axis=axis)


def ranked(values: Floats, columns: list[int], step: float) -> list[Rank]:
    """Ranks by how much they take more than the middle, most first. `step`: the whole step's typical time.

    A rank stands out when it is above the middle by 5 % of a step and by four times the noise of the others.
    """
    typical = median(values, axis=0)
    middle = float(median(typical[None, :], axis=1)[0]) if typical.size else np.nan
    found = []
    for k, rank in enumerate(columns):
        others = np.delete(typical, k)
        others = others[~np.isnan(others)]
        # Of two ranks the middle is between them: compare with the other one.
        ground = float(others[0]) if others.size == 1 else middle
        noise = _SCALE * float(np.median(np.abs(others - np.median(others)))) if others.size else 0.0
        more = float(typical[k]) - ground
        out = others.size > 0 and more > _SHARE * step and more > _Z * max(noise, _LEAST_NOISE * ground)
        found.append(Rank(rank, float(typical[k]), more, bool(out)))
    return sorted((r for r in found if not np.isnan(r.more)), key=lambda r: (-r.more, r.rank))


def middle_of(values: Floats) -> float:
    """The median of the ranks' medians; NaN when nothing is there."""
    typical = median(values, axis=0)
    return float(median(typical[None, :], axis=1)[0]) if typical.size else float("nan")
