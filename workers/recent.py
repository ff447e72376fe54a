"""An attempt's stored steps as the table that detectors read."""

import numpy as np

from webapp.runs.models import Attempt
from webapp.telemetry.models import Metric
from webapp.telemetry.points import COMM_TOTAL, EXPOSED, STEP
from webapp.telemetry.read import Reader, Series
from workers.detect.table import PARTS, Floats, Ints, Table

WINDOW = 120  # steps
WARM_UP, WARM_UP_AGAIN = 20, 10  # steps that are not judged; fewer in a later attempt
WORK = ("tokens", "num_tokens", "samples", "batch_size")  # names under which scripts log what a rank was given


def first_judged(attempt: Attempt) -> int:
    """The first step after the warm-up."""
    return attempt.first_step + (WARM_UP if attempt.number == 1 else WARM_UP_AGAIN)


def newest(attempt: Attempt, first: int, reader: Reader | None = None) -> Table:
    """The last steps, none before `first`. With a `reader` of one moment nothing is read twice."""
    last = attempt.last_step
    assert last is not None
    return between(attempt, max(first, last - WINDOW + 1), None, reader)


def between(attempt: Attempt, lo: int, hi: int | None, reader: Reader | None = None) -> Table:
    """The steps lo … hi of all ranks."""
    reader = reader or Reader(attempt)
    step = reader.series(STEP, lo=lo, hi=hi)
    ranks = np.array(step.columns, dtype=np.int64)
    places = dict(attempt.ranks.values_list("rank", "node_rank"))
    parts = {part: like(step, reader.series(f"phase/{part}", lo=lo, hi=hi)) for part in PARTS}
    return Table(
        step.index,
        ranks,
        np.array([places.get(rank, 0) for rank in step.columns], dtype=np.int64),
        step.values,
        like(step, reader.series(EXPOSED, lo=lo, hi=hi)),
        parts,
        like(step, reader.series(COMM_TOTAL, lo=lo, hi=hi)),
    )


def work_of(table: Table, reader: Reader) -> Floats | None:
    """What each rank was given in each step, if the script logs it, in the table's shape."""
    if not table.steps.size:
        return None
    logged = set(Metric.objects.filter(attempt=reader.attempt, name__in=WORK).values_list("name", flat=True))
    name = next((one for one in WORK if one in logged or one in reader.young), None)
    if name is None:
        return None
    given = reader.series(name, lo=int(table.steps[0]), hi=int(table.steps[-1]))
    return placed(given, table.steps, table.ranks)


def like(step: Series, other: Series) -> Floats:
    """The other metric's values at the rows and columns of the first, NaN where it has none."""
    return placed(other, step.index, np.array(step.columns, dtype=np.int64))


def placed(series: Series, index: Ints, columns: Ints) -> Floats:
    """A metric's values at these rows and columns, NaN where it has none."""
    known = np.array(series.columns, dtype=np.int64)
    if np.array_equal(series.index, index) and np.array_equal(known, columns):  # as nearly always
        return series.values
    values = np.full((index.size, columns.size), np.nan)
    _, mine, theirs = np.intersect1d(index, series.index, assume_unique=True, return_indices=True)
    _, here, there = np.intersect1d(columns, known, assume_unique=True, return_indices=True)
    values[np.ix_(mine, here)] = series.values[np.ix_(theirs, there)]
    return values
