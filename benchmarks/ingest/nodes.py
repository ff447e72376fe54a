"""Simulated nodes: each sends messages with some steps of all its ranks, as the agent's sender does."""

import numpy as np
import redis

from benchmarks.ingest.data import Slab
from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import WIRE_VERSION, Batch, StepColumns, ValueColumns


class Nodes:
    """All nodes of one attempt. `uids` by node rank."""

    def __init__(self, client: redis.Redis, attempt: int, uids: list[str], ranks_per_node: int) -> None:
        self.client, self.attempt, self.uids, self.ranks_per_node = client, attempt, uids, ranks_per_node
        self.seq = self.sent = 0

    def made(self, slab: Slab) -> list[bytes]:
        """One message of every node, the next in its order."""
        self.seq += 1
        return [codec.encode(self._batch(slab, node)) for node in range(len(self.uids))]

    def send(self, messages: list[bytes]) -> None:
        """What was made, to the streams."""
        self.sent += 1
        pipe = self.client.pipeline(transaction=False)
        for uid, message in zip(self.uids, messages, strict=True):
            pipe.xadd(names.telemetry(self.attempt, uid), {names.FIELD: message})
        pipe.execute()

    def unread(self) -> int:
        """Most messages that one of the nodes waits for."""
        pipe = self.client.pipeline(transaction=False)
        for uid in self.uids:
            pipe.hget(names.acks(uid), str(self.attempt))
        return self.sent - min(int(acked or 0) for acked in pipe.execute())

    def _batch(self, slab: Slab, node: int) -> Batch:
        lo = node * self.ranks_per_node
        mine = slice(lo, lo + self.ranks_per_node)
        rows = slab.end.shape[0]
        n = rows * self.ranks_per_node
        rank = np.tile(np.arange(lo, lo + self.ranks_per_node, dtype="<u4"), rows).tobytes()
        step = np.repeat(np.arange(slab.first, slab.first + rows, dtype="<i8"), self.ranks_per_node).tobytes()
        end = slab.end[:, mine].tobytes()
        steps = StepColumns(
            n=n,
            rank=rank,
            step=step,
            end=end,
            columns={name: values[:, mine].tobytes() for name, values in slab.timers.items()},
            nbytes=slab.nbytes[:, mine].tobytes(),
        )
        values = [
            ValueColumns(key=key, n=n, rank=rank, step=step, time=end, value=some[:, mine].astype("<f8").tobytes())
            for key, some in slab.floats.items()
        ]
        at = float(slab.end[-1, lo])
        return Batch(
            v=WIRE_VERSION,
            attempt=self.attempt,
            node=self.uids[node],
            seq=self.seq,
            sent_at=at,
            steps=[steps],
            values=values,
        )
