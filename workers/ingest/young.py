"""The young data of one attempt: what is in tails, kept in memory too, so that it need not be read again."""

import time

from django.db import transaction

from trainer_agent.wire.messages import Batch
from webapp.runs.models import Attempt
from webapp.telemetry.models import Tail
from webapp.telemetry.points import Points, explode_all, joined
from webapp.telemetry.store import batches_of, move
from workers.ingest.lease import hold

OLDEST_S = 5.0
# A block of many ranks costs more to write again than to fill first, so theirs stays young for longer.
OLDEST_S_PER_RANK = 0.05
MOST_POINTS = 6_000_000  # about 256 steps of 1,024 ranks with what they log
MOST_BATCHES_PER_NODE = 40


class Young:
    """Points in the order in which they were stored."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self._parts: list[Points] = []
        self._tails: list[int] = []
        self._points = self._messages = 0
        self._nodes: set[str] = set()
        self._oldest = time.monotonic()

    def __bool__(self) -> bool:
        return bool(self._tails)

    def fill(self) -> None:
        """What an earlier process left."""
        tails = list(Tail.objects.filter(attempt=self.attempt).order_by("pk"))
        batches = list(batches_of(tails))
        self.add(batches, explode_all(batches), [tail.pk for tail in tails], time.monotonic())

    def add(self, batches: list[Batch], points: list[Points], tails: list[int], now: float) -> None:
        """What was stored: messages, what they hold, and the keys of the rows with them. `now`: monotonic seconds."""
        if not self._tails:
            self._oldest = now
        self._parts += points
        self._tails += tails
        self._nodes.update(batch.node for batch in batches)
        self._messages += len(batches)
        self._points += sum(part.index.size for part in points)

    def is_due(self, now: float) -> bool:
        """Whether there is much, or it is old."""
        if not self._tails:
            return False
        patience = OLDEST_S + OLDEST_S_PER_RANK * self.attempt.world_size
        much = self._points >= MOST_POINTS or self._messages >= MOST_BATCHES_PER_NODE * len(self._nodes)
        return much or now - self._oldest > patience

    def points(self, only: frozenset[str]) -> dict[str, Points]:
        """Of some built-in metrics."""
        return joined(part for part in self._parts if part.name in only)

    def compact(self, holder: str) -> None:
        """All of it into segments."""
        with transaction.atomic():
            hold(self.attempt, holder)
            move(self.attempt, joined(self._parts), self._tails)
        self._parts, self._tails, self._points, self._messages = [], [], 0, 0
