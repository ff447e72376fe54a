"""Who is out of line in a window, and from which of its steps on. Pure; NaN is a gap.

Over the whole window a rank is late only when it is so most of the time. One that became late a while ago is found in
the window's newest tenth, where nearly every step must be late, since few steps are easily late by chance.
"""

import numpy as np

from webapp.telemetry.blocks import Floats
from webapp.telemetry.read import Series
from webapp.telemetry.spread import SHARE, Rank, late_rank, median, ranked

_TAIL = 10  # rows at least, and one in so many
_HELD = 0.8  # of the tail's rows
_BEFORE = 3  # rows that must be there to say that it was not late before


def ranked_lately(series: Series, step: float) -> list[Rank]:
    """Ranks by how much they take more, most first; the late one with its onset and what it takes more since then.

    `step`: the whole step's typical seconds.
    """
    ranks = ranked(series.values, series.columns, step)
    if len(ranks) < 2:
        return ranks
    if late_rank(ranks) is None:
        ranks = _of_the_tail(series, step) or ranks
    late = late_rank(ranks)
    return ranks if late is None else [_since(late, series), *ranks[1:]]


def _of_the_tail(series: Series, step: float) -> list[Rank]:
    size = max(_TAIL, series.index.size // 10)
    if series.index.size < 2 * size:
        return []
    values = series.values[-size:]
    late = late_rank(ranks := ranked(values, series.columns, step))
    if late is None:
        return []
    over = _excess(values, series.columns.index(late.rank)) > SHARE * step
    return ranks if np.mean(over) >= _HELD else []


def _since(late: Rank, series: Series) -> Rank:
    """With the onset: the split of the window into not late and late that explains its times best."""
    excess = _excess(series.values, series.columns.index(late.rank))
    rows = np.flatnonzero(~np.isnan(excess))
    if rows.size < 2 * _BEFORE:
        return late
    calm = np.clip(excess[rows], -late.more, 2 * late.more)  # a lone spike must not be the onset
    sums, n = np.cumsum(calm), rows.size
    before = np.arange(1, n)
    gain = (sums[:-1] / before - (sums[-1] - sums[:-1]) / (n - before)) ** 2 * before * (n - before)
    cut = int(np.argmax(gain)) + 1
    was, now = float(np.median(calm[:cut])), float(np.median(excess[rows[cut:]]))
    if cut < _BEFORE or was > now / 2:
        return late
    return late._replace(more=now, since=int(series.index[rows[cut]]))


def _excess(values: Floats, column: int) -> Floats:
    """A rank's seconds above the median of the others, row by row."""
    return np.asarray(values[:, column] - median(np.delete(values, column, axis=1), 1))
