"""A node as ingest sees it: a numbered spool, a stream, and acknowledgements."""

import redis

from tests.telemetry.batches import batch
from trainer_agent.wire import codec, names
from webapp.runs.models import Attempt, AttemptNode
from workers.ingest.loop import Ingest


class FakeNode:
    def __init__(self, client: redis.Redis, attempt: Attempt, part: AttemptNode) -> None:
        self.client, self.attempt, self.uid = client, attempt, part.node_uid
        self.stream = names.telemetry(attempt.pk, self.uid)
        self.spool: dict[int, bytes] = {}
        self.seq = 0

    def make(self, **content) -> int:
        """Put a batch into the spool."""
        self.seq += 1
        self.spool[self.seq] = codec.encode(batch(self.attempt.pk, self.uid, self.seq, **content))
        return self.seq

    def send(self, *seqs: int) -> None:
        """The spooled batches, or all that are not acknowledged."""
        for seq in seqs or [seq for seq in self.spool if seq > self.acked]:
            self.client.xadd(self.stream, {names.FIELD: self.spool[seq]})

    def say(self, **content) -> int:
        seq = self.make(**content)
        self.send(seq)
        return seq

    @property
    def acked(self) -> int:
        return int(self.client.hget(names.acks(self.uid), str(self.attempt.pk)) or 0)

    @property
    def left(self) -> int:
        return int(self.client.xlen(self.stream))


def turn(ingest: Ingest, rounds: int = 2) -> None:
    """A few rounds of the loop, without its longest waits."""
    for _k in range(rounds):
        ingest._patience = lambda now: 0.01  # type: ignore[method-assign]
        ingest.round()
