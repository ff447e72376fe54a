"""What each metric that the script logs came to: kept up by every stored point, written now and then.

Lists are searched and sorted by these rows, so that nobody has to read segments for them.
"""

from collections.abc import Iterable

import numpy as np

from webapp.history.record import Came, metrics_of, note_metrics
from webapp.runs.models import Attempt
from webapp.telemetry.points import BUILT_IN, Points
from webapp.telemetry.read import Reader

EVERY_S = 5.0
_NAMES_PER_S = 200  # a run with very many names is written more seldom
_ROWS = 256  # of a metric whose row is not there yet; minima and maxima are exact at any resolution


class MetricValues:
    """Of one attempt, by the lowest rank that logs a metric: another's word would not fit to its line."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self._came: dict[str, Came] = {}
        self._rank: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        self._mine: set[str] = set()  # names whose step is of this attempt
        self._new: set[str] = set()
        self._written = 0.0

    def fill(self) -> None:
        """What the database has; what was stored after the rows were written is read again."""
        known = metrics_of(self.attempt.run)
        reader = Reader(self.attempt)
        for name, row in known.items():
            self._came[name] = Came(row.step, row.last, row.low, row.high)
            self._keys[name] = row.key_id
            if row.attempt == self.attempt.number:
                self._mine.add(name)
        for metric in reader.metrics():
            if metric.axis != "step" or metric.name in BUILT_IN or metric.last_index is None:
                continue
            since = self._came[metric.name].step if metric.name in self._mine else None
            if since is None or since < metric.last_index:
                self._read_again(reader, metric.name, since)

    def add(self, points: Iterable[Points]) -> None:
        """Points that were stored."""
        for part in points:
            if part.axis == "step" and part.name not in BUILT_IN:
                self._add(part)

    def is_due(self, now: float) -> bool:
        """Whether rows changed and the last writing is long enough ago."""
        return bool(self._new) and now - self._written >= max(EVERY_S, len(self._came) / _NAMES_PER_S)

    def write(self, now: float) -> None:
        """The rows that changed. Called inside ingest's transaction."""
        if self.attempt.run.attempt_count == self.attempt.number:  # a newer attempt says what the run came to
            changed = {name: self._came[name] for name in self._new}
            note_metrics(self.attempt.run, self.attempt.number, changed, self._keys)
        self._new.clear()
        self._written = now

    @property
    def pending(self) -> bool:
        """Whether something is not written yet."""
        return bool(self._new)

    def _read_again(self, reader: Reader, name: str, since: int | None) -> None:
        found = reader.series(name, lo=since, max_rows=_ROWS)
        if not found.index.size:
            return
        newest = reader.series(name, lo=int(found.index[-1]))
        self._rank[name] = min(newest.columns)
        mins, maxs = found.mins[:, 0], found.maxs[:, 0]
        self._take(name, int(newest.index[-1]), float(newest.values[-1, 0]), np.concatenate([mins, maxs]))

    def _add(self, part: Points) -> None:
        lowest = int(part.rank.min())
        if lowest > self._rank.setdefault(part.name, lowest):
            return
        self._rank[part.name] = lowest
        first = part.rank == lowest
        index, value = part.index[first], part.value[first]
        at = index.size - 1 - int(index[::-1].argmax())  # of the same step logged twice, the later
        self._take(part.name, int(index[at]), float(value[at]), value)

    def _take(self, name: str, step: int, last: float, values: np.ndarray) -> None:
        fine = values[np.isfinite(values)]
        came = self._came.setdefault(name, Came(step, None))
        if step >= came.step or name not in self._mine:
            came.step, came.last = step, last if np.isfinite(last) else None
            self._mine.add(name)
        if fine.size:
            low, high = float(fine.min()), float(fine.max())
            came.low = low if came.low is None else min(came.low, low)
            came.high = high if came.high is None else max(came.high, high)
        self._new.add(name)
