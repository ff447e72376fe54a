"""What a run has reached of its sweep's goal, read from stored points."""

from collections.abc import Iterable

import numpy as np

from webapp.runs.models import Run
from webapp.telemetry.run_read import RunReader

MOST_POINTS = 200


def curve_of(run: Run, metric: str) -> list[tuple[int, float]]:
    """(step, mean of the ranks that logged it), thinned to MOST_POINTS; without what is NaN or infinite."""
    series = RunReader(run).series(metric, max_rows=MOST_POINTS)
    if series.axis != "step" or not series.index.size:
        return []
    finite = np.isfinite(series.values)
    counts = finite.sum(axis=1)
    sums = np.where(finite, series.values, 0.0).sum(axis=1)
    rows = counts > 0
    return list(_pairs(series.index[rows], sums[rows] / counts[rows]))


def _pairs(steps: Iterable[int], values: Iterable[float]) -> Iterable[tuple[int, float]]:
    return ((int(step), float(value)) for step, value in zip(steps, values, strict=True))
