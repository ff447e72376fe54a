"""Takes out of the ranks' times what they need because they were given more work, by a line that fits all ranks. Pure.

L = a + b * work is fitted to the differences between the ranks of one step, so that what slows all of them alike does
not count, with the line of least absolute deviations, which a few late ranks do not move.
"""

import numpy as np

from webapp.telemetry.spread import median
from workers.detect.table import Floats, Table

_BY_WORK = ("data", "forward", "backward", "other")  # an optimizer's time depends on the model alone
VARIES = 0.02  # of the typical work, by which ranks must differ for it to explain anything
KNOWN = 0.8  # of the cells
# Time may grow faster than work, but not without limit: a rank that is late for a reason of its own and has a little
# more work stays late.
STEEPEST = 2.0


def for_equal_work(table: Table, work: Floats) -> Table | None:
    """The table as if all ranks had been given the same. None where the work is not known or does not differ.

    `work`: tokens or samples that each rank was given, in the table's shape.
    """
    known = ~np.isnan(work)
    if table.ranks.size < 2 or not known.size or known.mean() < KNOWN:
        return None
    middle = median(work, 1)[:, None]
    more = np.where(known, work - middle, 0.0)
    typical = float(np.nanmedian(middle))
    if not typical > 0 or np.mean(np.abs(more).max(axis=1) >= VARIES * typical) < 0.1:
        return None
    parts, step = dict(table.parts), table.step.copy()
    for part in _BY_WORK:
        surplus = _slope(table.parts[part], more, typical) * more
        parts[part] = table.parts[part] - surplus
        step -= surplus
    return Table(table.steps, table.ranks, table.nodes, step, table.exposed, parts, table.total)


def _slope(values: Floats, more: Floats, typical: float) -> float:
    """Seconds for each unit of work."""
    middle = median(values, 1)
    y = (values - middle[:, None]).ravel()
    x = more.ravel()
    used = (x != 0) & ~np.isnan(y)
    if not used.any():
        return 0.0
    ratios, weights = y[used] / x[used], np.abs(x[used])
    order = np.argsort(ratios)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    steepest = STEEPEST * float(np.nanmedian(middle)) / typical
    return float(np.clip(ratios[order][min(half, order.size - 1)], 0.0, steepest))
