"""Early stopping by the median rule. Pure.

A trial is given up when the best that it has reached so far is worse than the median of what the others had reached by
the same step (Golovin et al., "Google Vizier", 2017, section 3.2.2).
"""

from collections.abc import Sequence
from statistics import median

Curve = Sequence[tuple[int, float]]  # (step, value), by step
LEAST_OTHERS = 4  # before so many have come as far, nobody is given up


def falls_behind(curve: Curve, others: Sequence[Curve], *, minimize: bool, not_before: int) -> bool:
    """Whether to stop a running trial. `not_before`: the step up to which it is left alone."""
    if not curve or curve[-1][0] < not_before:
        return False
    step = curve[-1][0]
    reached = [best_by(other, step, minimize=minimize) for other in others if other and other[-1][0] >= step]
    known = [value for value in reached if value is not None]
    own = best_by(curve, step, minimize=minimize)
    if own is None or len(known) < LEAST_OTHERS:
        return False
    return own > median(known) if minimize else own < median(known)


def best_by(curve: Curve, step: int, *, minimize: bool) -> float | None:
    """The best value of a curve up to a step; None where it has none. NaN and infinity are no values."""
    values = [value for at, value in curve if at <= step and abs(value) < float("inf")]
    if not values:
        return None
    return min(values) if minimize else max(values)
