"""The young data of one attempt: what is in tails, kept in memory too, so that it need not be read again."""

import time

from django.db import transaction

from trainer_agent.wire import codec
from trainer_agent.wire.messages import Batch
from webapp.runs.models import Attempt
from webapp.telemetry.models import Tail
from webapp.telemetry.points import Points, explode_all, joined
from webapp.telemetry.store import move
from workers.ingest.lease import hold

OLDEST_S = 5.0
# A block of many ranks costs more to write again than to fill first, so theirs stays young for longer.
OLDEST_S_PER_RANK = 0.05
MOST_POINTS = 6_000_000  # about 256 steps of 1,024 ranks with what they log
MOST_BATCHES_PER_NODE = 40


class Young:
    """Batches in the order of their tails."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self._batches: list[Batch] = []
        self._tails: list[int] = []
        self._points = 0
        self._nodes: set[str] = set()
        self._oldest = time.monotonic()

    def __bool__(self) -> bool:
        return bool(self._tails)

    def fill(self) -> None:
        """What an earlier process left."""
        rows = Tail.objects.filter(attempt=self.attempt).order_by("pk")
        tails = [(row.pk, codec.decode_batch(bytes(row.payload))) for row in rows.iterator()]
        self.add([batch for _pk, batch in tails], [pk for pk, _batch in tails], time.monotonic())

    def add(self, batches: list[Batch], tails: list[int], now: float) -> None:
        """What was stored. `now`: monotonic seconds."""
        if not self._tails:
            self._oldest = now
        self._batches += batches
        self._tails += tails
        self._nodes.update(batch.node for batch in batches)
        self._points += sum(points_in(batch) for batch in batches)

    def is_due(self, now: float) -> bool:
        """Whether there is much, or it is old."""
        if not self._tails:
            return False
        patience = OLDEST_S + OLDEST_S_PER_RANK * self.attempt.world_size
        much = self._points >= MOST_POINTS or len(self._tails) >= MOST_BATCHES_PER_NODE * len(self._nodes)
        return much or now - self._oldest > patience

    def points(self, only: frozenset[str]) -> dict[str, Points]:
        """Of some built-in metrics."""
        return joined(explode_all(self._batches, only))

    def compact(self, holder: str) -> None:
        """All of it into segments."""
        with transaction.atomic():
            hold(self.attempt, holder)
            move(self.attempt, joined(explode_all(self._batches)), self._tails)
        self._batches, self._tails, self._points = [], [], 0


def points_in(batch: Batch) -> int:
    """About how many points a message holds."""
    steps = sum(one.n * (len(one.columns) + 2) for one in batch.steps)
    return steps + sum(one.n for one in batch.values) + sum(one.n for one in batch.samples)
