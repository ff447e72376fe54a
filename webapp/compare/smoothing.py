"""The smoothed line of a curve. Pure."""

import numpy as np

from webapp.telemetry.blocks import Floats

STRONGEST = 0.999


def smoothed(x: Floats, y: Floats, weight: float) -> Floats:
    """Exponential mean of `y` without the pull of its start, as TensorBoard draws it; gaps (NaN) stay gaps.

    `weight`: 0 (as it is) to STRONGEST, the share of what was before that is kept over the usual distance of two x.
    A longer distance keeps less, so that points which lie close together do not count for more. `x` ascends.
    """
    known = np.flatnonzero(np.isfinite(y))
    if weight <= 0 or known.size < 2:
        return np.where(np.isfinite(y), y, np.nan)
    gaps = np.diff(x[known].astype(float))
    usual = float(np.median(gaps))
    # Nothing is known before the first point, so what it is kept for is of no consequence.
    kept = np.append(0.0, min(weight, STRONGEST) ** (gaps / usual if usual > 0 else np.ones(gaps.size)))
    out = np.full(y.size, np.nan)
    mean = seen = 0.0
    first = 1 - min(weight, STRONGEST)
    for at, value, keep in zip(known.tolist(), y[known].tolist(), kept.tolist(), strict=True):
        new = 1 - keep if seen else first
        mean, seen = keep * mean + new * value, keep * seen + new
        out[at] = mean / seen
    return out
