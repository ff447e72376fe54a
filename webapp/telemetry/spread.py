"""How ranks lie to each other: medians, and who is out of line. Pure; NaN is a gap."""

from typing import NamedTuple

import numpy as np

from webapp.telemetry.blocks import Floats

_SCALE = 1.4826  # MAD to standard deviation
_Z = 4.0
_LEAST_NOISE = 0.01  # of the middle
SHARE = 0.05  # of a step


class Rank(NamedTuple):
    """One rank's typical value in a window, and how far it is above the middle of all ranks.

    `since`: the step from which on it is so, when that is in the window (`onset.py` looks for it).
    """

    rank: int
    value: float
    more: float
    stands_out: bool
    since: int | None = None


def median(values: Floats, axis: int) -> Floats:
    """Median over an axis, gaps left out; NaN where nothing is."""
    # Along rows that lie together in memory NumPy is several times faster.
    across = np.array(np.moveaxis(values, axis, -1), order="C")
    gaps = np.isnan(across.min(axis=-1, initial=np.inf))
    if not gaps.any():
        return _median_of_whole(across)
    found = np.empty(gaps.shape)
    found[~gaps] = _median_of_whole(across[~gaps])
    found[gaps] = _median_of_known(across[gaps])
    return found


def ranked(values: Floats, columns: list[int], step: float) -> list[Rank]:
    """Ranks by how much they take more than the middle, most first. `step`: the whole step's typical time.

    A rank stands out when it is above the middle by 5 % of a step and by four times the noise: that of the others, and
    what its own steps leave open.
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
    out = (more > SHARE * step) & (more > _Z * noise)
    for k in np.flatnonzero(out):
        out[k] = more[k] > _Z * _left_open(values[:, seen[k]])
    order = np.argsort(-more, kind="stable")
    found = (part[order].tolist() for part in (seen, known, more, out))
    return [Rank(columns[k], value, above, stands_out) for k, value, above, stands_out in zip(*found, strict=True)]


def noise_of(values: Floats) -> float:
    """How far above its median a usual rank's 95th percentile is: of half the ranks it is less. 0 without values."""
    seen = values[:, ~np.isnan(values).all(axis=0)]
    if not seen.size:
        return 0.0
    # With gaps NumPy goes column by column, which 1,024 ranks wait for.
    high = np.nanpercentile(seen, 95, axis=0) if np.isnan(seen).any() else np.percentile(seen, 95, axis=0)
    far = high - median(seen, axis=0)
    return float(np.percentile(far, 50, method="lower"))


def late_rank(ranks: list[Rank]) -> Rank | None:
    """The first rank that stands out."""
    return ranks[0] if ranks and ranks[0].stands_out else None


def middle_of(values: Floats) -> float:
    """The median of the ranks' medians; NaN when nothing is there."""
    return middle(median(values, axis=0))


def middle(values: Floats) -> float:
    """The median of a row of numbers; NaN when nothing is there."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else float("nan")


def _median_of_whole(rows: Floats) -> Floats:
    """Of each row; none of the numbers is missing. The rows are put into another order."""
    n = rows.shape[-1]
    if not n:
        return np.full(rows.shape[:-1], np.nan)
    rows.partition(n // 2, axis=-1)  # for one place, since for two NumPy takes three times as long
    high = rows[..., n // 2].copy()
    return high if n % 2 else _between(rows[..., : n // 2].max(axis=-1), high)


def _median_of_known(rows: Floats) -> Floats:
    ordered = np.sort(rows, axis=-1)  # NaN goes last
    count = np.sum(~np.isnan(rows), axis=-1, keepdims=True)
    low = np.take_along_axis(ordered, np.maximum((count - 1) // 2, 0), axis=-1)[..., 0]
    high = np.take_along_axis(ordered, np.minimum(count // 2, rows.shape[-1] - 1), axis=-1)[..., 0]
    return np.where(count[..., 0] > 0, _between(low, high), np.nan)


def _left_open(column: Floats) -> float:
    """Standard error of the median of a rank's values."""
    known = column[~np.isnan(column)]
    return float(1.25 * _SCALE * np.median(np.abs(known - np.median(known))) / np.sqrt(known.size))


def _spread_of_others(known: Floats) -> Floats:
    """For each number the median distance of all others from their own median."""
    centres = _median_of_others(known)
    found = np.empty(known.size)
    for centre in np.unique(centres):  # two or three: to leave one number out moves a median by a place at most
        mine = centres == centre
        found[mine] = _median_of_others(np.abs(known - centre))[mine]
    return found


def _median_of_others(numbers: Floats) -> Floats:
    """For each number the median of all others."""
    order = np.argsort(numbers, kind="stable")
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    ordered, others = numbers[order], numbers.size - 1
    low, high = (others - 1) // 2, others // 2
    return np.asarray((ordered[low + (place <= low)] + ordered[high + (place <= high)]) / 2)


def _between(low: Floats, high: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where(low == high, low, low + (high - low) / 2)
