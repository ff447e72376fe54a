"""An attempt's stored steps as the table that detectors read."""

import numpy as np

from webapp.runs.models import Attempt
from webapp.telemetry.points import EXPOSED, STEP
from webapp.telemetry.read import Reader, Series
from workers.detect.table import PARTS, Floats, Ints, Table

WINDOW = 120  # steps


def newest(attempt: Attempt, first: int) -> Table:
    """The last steps, none before `first`."""
    last = attempt.last_step
    assert last is not None
    return between(attempt, max(first, last - WINDOW + 1), None)


def between(attempt: Attempt, lo: int, hi: int | None) -> Table:
    """The steps lo … hi of all ranks."""
    reader = Reader(attempt)
    step = reader.series(STEP, lo=lo, hi=hi)
    ranks = np.array(step.columns, dtype=np.int64)
    places = dict(attempt.ranks.values_list("rank", "node_rank"))
    parts = {part: _like(step, reader.series(f"phase/{part}", lo=lo, hi=hi)) for part in PARTS}
    return Table(
        step.index,
        ranks,
        np.array([places.get(rank, 0) for rank in step.columns], dtype=np.int64),
        step.values,
        _like(step, reader.series(EXPOSED, lo=lo, hi=hi)),
        parts,
    )


def _like(step: Series, other: Series) -> Floats:
    """The other metric's values at the steps and ranks of the first, NaN where it has none."""
    values = np.full(step.values.shape, np.nan)
    rows = {index: row for row, index in enumerate(other.index.tolist())}
    mine: Ints = np.array([row for row, index in enumerate(step.index.tolist()) if index in rows], dtype=np.int64)
    theirs = np.array([rows[int(step.index[row])] for row in mine], dtype=np.int64)
    for column, rank in enumerate(step.columns):
        if rank in other.columns and mine.size:
            values[mine, column] = other.values[theirs, other.columns.index(rank)]
    return values
