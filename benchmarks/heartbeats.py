"""Nodes that live while simulated ones send: rows, and heartbeats, without which a server gives their run up."""

import hashlib
import time

import redis
from django.utils import timezone

from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import WIRE_VERSION, AttemptAlive, Heartbeat, Inventory
from webapp.nodes.models import Node
from webapp.runs.models import Attempt


class LivingNodes:
    """All nodes of one attempt, by node rank. They have no slots, so that nothing is placed on them."""

    def __init__(self, client: redis.Redis, attempt: Attempt, uids: list[str], ranks_per_node: int) -> None:
        self._client, self._attempt, self._uids, self._per_node = client, attempt.pk, uids, ranks_per_node
        Node.objects.bulk_create((_node(uid) for uid in uids), ignore_conflicts=True)
        Node.objects.filter(uid__in=uids).update(removed_at=None)
        for node in Node.objects.filter(uid__in=uids):
            attempt.parts.filter(node_uid=node.uid).update(node=node)
        self._said = 0.0

    def say(self) -> None:
        """A heartbeat of each, every two seconds however often this is called."""
        if time.monotonic() - self._said < 2:
            return
        self._said = time.monotonic()
        pipe = self._client.pipeline(transaction=False)
        for number, uid in enumerate(self._uids):
            ranks = list(range(number * self._per_node, (number + 1) * self._per_node))
            beat = Heartbeat(
                v=WIRE_VERSION,
                node=uid,
                at=time.time(),
                inventory=Inventory(hostname=uid, address="127.0.0.1", slots=[]),
                attempts=[AttemptAlive(attempt=self._attempt, ranks=ranks)],
            )
            pipe.set(names.heartbeat(uid), codec.encode(beat), ex=names.HEARTBEAT_TTL)
        pipe.execute()

    def leave(self) -> None:
        """They are gone for good."""
        Node.objects.filter(uid__in=self._uids).update(removed_at=timezone.now())


def _node(uid: str) -> Node:
    digest = hashlib.sha256(uid.encode()).hexdigest()
    return Node(uid=uid, name=f"simulated {uid}", token_hash=digest, redis_password_sha256=digest)
