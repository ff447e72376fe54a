"""What of one attempt is in tails only: kept in memory too, so that it need not be read again to go into segments."""

import math
import time
from dataclasses import dataclass

from django.db import transaction

from trainer_agent.wire.messages import Batch
from webapp.runs.models import Attempt
from webapp.telemetry.merge import ROWS
from webapp.telemetry.models import Tail
from webapp.telemetry.points import BUILT_IN, Points, explode_all, joined
from webapp.telemetry.store import batches_of, forget, write
from workers.ingest.lease import hold
from workers.ingest.window import Window

OLDEST_S = 5.0
# A block of many ranks costs more to write again than to fill first, so theirs stays young for longer.
OLDEST_S_PER_RANK = 0.05
MOST_POINTS = 6_000_000  # about 450 steps of 1,024 ranks
MOST_BATCHES_PER_NODE = 40


@dataclass(slots=True)
class _Round:
    """What was stored at once."""

    at: float  # monotonic seconds
    tails: list[int]  # keys of the rows with it
    nodes: set[str]
    messages: int
    points: int
    last: int | None  # the newest step of which there is a record

    def is_before(self, step: int | None) -> bool:
        """Whether all of it is in segments when records before this step are. None: when all are."""
        return step is None or self.last is None or self.last < step


class Young:
    """Rounds of an attempt, whose points the window has; it gives back those that it has no place for."""

    def __init__(self, attempt: Attempt, window: Window) -> None:
        self.attempt, self.window = attempt, window
        self._rounds: list[_Round] = []
        self._others: list[Points] = []  # in the order in which they were stored

    def __bool__(self) -> bool:
        return bool(self._rounds)

    def fill(self) -> None:
        """What an earlier process left."""
        tails = list(Tail.objects.filter(attempt=self.attempt).order_by("pk"))
        batches = list(batches_of(tails))
        self.add(batches, explode_all(batches), [tail.pk for tail in tails], time.monotonic())
        self.window.drop_news(math.inf)

    def add(self, batches: list[Batch], points: list[Points], tails: list[int], now: float) -> None:
        """What was stored: messages, what they hold, and the keys of the rows with them. `now`: monotonic seconds."""
        if not tails:
            return
        self._others += self.window.add(points, now)
        indexes = {id(part.index): part.index for part in points if part.name in BUILT_IN}
        last = max((int(index.max()) for index in indexes.values()), default=None)
        nodes = {batch.node for batch in batches}
        size = sum(part.index.size for part in points)
        self._rounds.append(_Round(now, tails, nodes, len(batches), size, last))

    def is_due(self, now: float) -> bool:
        """Whether there is much, or it is old."""
        return bool(self._rounds) and (self._is_much() or self._is_old(now))

    def points(self, only: frozenset[str]) -> dict[str, Points]:
        """Of some built-in metrics."""
        return joined([*(part for part in self._others if part.name in only), *self.window.young_points(only)])

    def compact(self, holder: str, now: float) -> None:
        """Into segments: whole blocks if that is the most of it and nothing is old, else all."""
        before = None if self._is_old(now) else self._whole()
        done = [one for one in self._rounds if one.is_before(before)]
        with transaction.atomic():
            hold(self.attempt, holder)
            write(self.attempt, joined(self._others), self.window.young(before))
            forget(tail for one in done for tail in one.tails)
        self.window.stored(before)
        self._rounds = [one for one in self._rounds if not one.is_before(before)]
        self._others = []

    def _is_much(self) -> bool:
        nodes = set().union(*(one.nodes for one in self._rounds))
        points = sum(one.points for one in self._rounds)
        return points >= MOST_POINTS or sum(one.messages for one in self._rounds) >= MOST_BATCHES_PER_NODE * len(nodes)

    def _is_old(self, now: float) -> bool:
        return now - self._rounds[0].at > OLDEST_S + OLDEST_S_PER_RANK * self.attempt.world_size

    def _whole(self) -> int | None:
        """The step before which blocks are whole; None if too little is before it."""
        last = max((one.last for one in self._rounds if one.last is not None), default=0)
        before = last // ROWS * ROWS
        points = sum(one.points for one in self._rounds if one.is_before(before))
        return before if 2 * points >= sum(one.points for one in self._rounds) else None
