"""Where a step's time goes in each run. Pure: typical seconds in, bars out."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from webapp.telemetry.panels import PHASES
from webapp.telemetry.series import Series
from webapp.telemetry.spread import median, middle

Seconds = Mapping[str, float]
WAITING = "exposed_comm"


def typical(series: Series) -> float:
    """Median over the steps of the median rank, in seconds; NaN when nothing is there."""
    return middle(median(series.values, 1)) if series.columns else float("nan")


def bars(runs: Mapping[str, Seconds]) -> dict[str, Any]:
    """`{phases: [those that some run has], runs: {uid: {phase: ms}}}`."""
    known = {uid: {k: v for k, v in parts.items() if np.isfinite(v)} for uid, parts in runs.items()}
    return {
        "phases": [phase for phase in PHASES if any(phase in parts for parts in known.values())],
        "runs": {uid: {k: round(v * 1e3, 3) for k, v in parts.items()} for uid, parts in known.items() if parts},
    }


def waiting_shares(runs: Mapping[str, Seconds]) -> dict[str, float]:
    """Share of each run's step that waits for others, of those whose ranks tell."""
    sums = {uid: float(np.nansum(list(parts.values()))) for uid, parts in runs.items() if parts}
    waits = {uid: runs[uid].get(WAITING, float("nan")) for uid in sums}
    return {uid: waits[uid] / sums[uid] for uid in sums if sums[uid] > 0 and np.isfinite(waits[uid])}
