"""Communication that was hidden behind the backward pass and no longer is, though it takes no longer than before."""

import numpy as np

from webapp.incidents.finding import JOB, OVERLAP, Finding
from workers.detect.baseline import Baseline, shift
from workers.detect.table import Floats, Table

MORE = 0.15  # exposed, than usual
WORTH = 0.05  # of the step
_SAME = 1.1  # times its usual time that the whole communication may take and still be as before
_SEEN = 3  # steps in which it must have been measured since then
_HIDDEN = 0.9  # of it was exposed before: then little was hidden that could be lost


def lost_overlap(table: Table, now: dict[str, Floats], baseline: Baseline | None) -> list[Finding]:
    """`now`: the table's `numbers`. Needs the whole communication, which is measured on CPUs only."""
    usual = baseline.usual if baseline else {}
    if "span" not in usual or "exposed" not in usual or usual["exposed"].middle > _HIDDEN * usual["span"].middle:
        return []
    moved = shift(now["transfer"], usual["transfer"]) if "transfer" in usual else None
    if moved is None or moved[0] < MORE:
        return []
    span = now["span"][moved[1] :]
    span = span[~np.isnan(span)]
    if span.size < _SEEN or np.median(span) > _SAME * usual["span"].middle:
        return []
    more = moved[0] * usual["transfer"].middle
    step = float(np.nanmedian(now["step"][-10:]))
    if more < WORTH * step:
        return []
    evidence = {"transfer": usual["transfer"].middle + more, "usual": usual["transfer"].middle}
    evidence |= {"span": float(np.median(span)), "span_usual": usual["span"].middle}
    lost = more / (step - more)
    return [Finding(OVERLAP, JOB, "code", lost, int(table.steps[moved[1]]), probable=False, evidence=evidence)]
