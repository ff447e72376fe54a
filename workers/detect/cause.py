"""Which part of a rank's own work makes it late."""

from collections.abc import Callable

import numpy as np

from webapp.telemetry.spread import median
from workers.detect.table import PARTS, Bools, Floats, Table

_ONE_PART = 0.75  # of the excess in one part: that part is the cause
_COMPUTE = ("forward", "backward")
_SAME_RATIO = 0.35  # by how much two ratios may differ and still be one slowness
Over = Callable[[Floats], np.floating]
_STARVED = 3  # parts that are longer by the same ratio: the processor itself is short


def cause_of(
    table: Table, column: int, hit: Bools, *, on_gpu: bool, over: Over = np.nanmean
) -> tuple[str, bool, dict[str, float]]:
    """(cause, probable, seconds of excess per part) of one rank over the steps in which it was late.

    `over`: the mean over these steps, since what comes now and then hides from medians. Of a rank that is late for
    good it is the median: a collection or two in another part are no reason for its lateness.
    """
    more = {part: _excess(table.parts[part], column, hit, over) for part in PARTS}
    total = sum(value for value in more.values() if value > 0)
    if total <= 0:
        return "unknown", True, more
    top = max(more, key=lambda part: more[part])
    starved = _ratios(table, column, hit, PARTS, over)
    if len(starved) >= _STARVED and _alike(starved) and more[top] / total < _ONE_PART:
        return "cpu", True, more
    compute = sum(max(0.0, more[part]) for part in _COMPUTE)
    if more[top] / total >= _ONE_PART:
        return top, False, more
    ratios = _ratios(table, column, hit, _COMPUTE, over)
    if compute / total >= _ONE_PART and len(ratios) == len(_COMPUTE) and _alike(ratios):
        return "gpu" if on_gpu else "cpu", True, more
    return "unknown", True, more


def _excess(values: Floats, column: int, hit: Bools, over: Over) -> float:
    others = np.delete(values, column, axis=1)
    if not others.shape[1] or not hit.any():
        return 0.0
    more = (values[:, column] - median(others, 1))[hit]
    return float(over(more)) if not np.isnan(more).all() else 0.0


def _ratios(table: Table, column: int, hit: Bools, parts: tuple[str, ...], over: Over) -> list[float]:
    """How many times longer each of the parts is that take time at all."""
    found = []
    for part in parts:
        values = table.parts[part]
        mine, peers = values[hit, column], median(np.delete(values, column, axis=1), 1)[hit]
        usual = float(over(peers)) if not np.isnan(peers).all() else 0.0
        if usual > 0.02 * float(np.nanmean(table.step)) and not np.isnan(mine).all():
            found.append(float(over(mine)) / usual)
    return found


def _alike(ratios: list[float]) -> bool:
    return min(ratios) > 1.0 and (max(ratios) - min(ratios)) <= _SAME_RATIO * (max(ratios) - 1.0 + 1e-9) + 0.1
