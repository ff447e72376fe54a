"""What a node says it holds against what the rows say it should: confirmations, leftovers and gaps."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import redis
from django.db import transaction
from django.db.models import QuerySet

from trainer_agent.wire import names
from webapp.nodes.commands import order_forget
from webapp.nodes.models import Command, CommandKind, Node, Slot
from webapp.queue import PLACE, hint
from webapp.redis import connection
from webapp.runs.models import AttemptNode, Cause, Status
from webapp.runs.settle import clean, finish_part, lose_part, settle
from webapp.runs.state import PLACED, locked

# An order needs this long to show in a heartbeat that was under way.
_CROSSING_S = 1.0
MISSING_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Books:
    """What the rows say of all nodes, read at once: most nodes agree with it every time and need no look of their own.

    By a node's key, of attempts' keys. `claimed`: those of its slots. `placed`: those that have a part on it.
    `launched`: of these the ones that must be there.
    """

    with_orders: set[int]  # nodes that have not answered one yet
    claimed: dict[int, set[int]]
    placed: dict[int, set[int]]
    launched: dict[int, set[int]]

    @classmethod
    def read(cls, held: Iterable[int]) -> "Books":
        """`held`: the attempts that any node says it holds."""
        claimed = Slot.objects.exclude(attempt=None).values_list("node_id", "attempt_id")
        placed = AttemptNode.objects.filter(attempt__in=set(held)).values_list("node_id", "attempt_id")
        return cls(
            set(Command.objects.filter(accepted_at=None).values_list("node_id", flat=True)),
            _by_node(claimed.order_by().distinct()),
            _by_node(placed),
            _by_node(_launched().values_list("node_id", "attempt_id")),
        )

    def agree(self, node: int, held: set[int]) -> bool:
        """Whether `compare` would find nothing to do."""
        there = self.claimed.get(node, set()) | self.launched.get(node, set())
        return node not in self.with_orders and there <= held <= self.placed.get(node, set())


def compare(node: Node, held: set[int], said_at: datetime, missing: dict[str, float]) -> dict[str, float]:
    """Act on a heartbeat that lists `held` attempts, said at `said_at` (server's clock), inside a transaction.

    Takes and returns since when (epoch s) each attempt that should be there was missing.
    """
    _confirm_forgets(node, held, said_at)
    _close_orders_of_the_past(node, held, said_at)
    _free_clean_slots(node, held, said_at)
    _forget_strangers(node, held)
    return _watch_missing(node, held, said_at, missing)


def _confirm_forgets(node: Node, held: set[int], said_at: datetime) -> None:
    forgets = Command.objects.filter(node=node, kind=CommandKind.FORGET, accepted_at=None, sent_at__isnull=False)
    for command in forgets.filter(sent_at__lt=said_at - timedelta(seconds=_CROSSING_S)).exclude(attempt_key__in=held):
        Command.objects.filter(pk=command.pk).update(accepted_at=said_at)
        Slot.objects.filter(node=node, attempt=command.attempt_key).update(attempt=None)
        for part in AttemptNode.objects.filter(node=node, attempt=command.attempt_key):
            finish_part(part, said_at)
            settle(locked(part.attempt_id))
        _drop_pipe(node.uid, command.attempt_key)
        hint(PLACE)


def _close_orders_of_the_past(node: Node, held: set[int], said_at: datetime) -> None:
    """A start or stop about an attempt that has ended and that the node does not hold needs no answer any more."""
    over = Command.objects.filter(node=node, accepted_at=None, attempt__status=Status.ENDED)
    over.exclude(attempt_key__in=held).update(accepted_at=said_at)


def _free_clean_slots(node: Node, held: set[int], said_at: datetime) -> None:
    """Slots of a part that is over or was placed elsewhere, once the node is there and holds nothing of it."""
    for attempt in set(Slot.objects.filter(node=node).exclude(attempt=None).values_list("attempt_id", flat=True)):
        if attempt in held or Command.objects.filter(node=node, attempt_key=attempt, accepted_at=None).exists():
            continue
        expected = AttemptNode.objects.filter(node=node, attempt=attempt, finished_at=None, lost_at=None)
        if not expected.exists():
            Slot.objects.filter(node=node, attempt=attempt).update(attempt=None)
            for part in AttemptNode.objects.filter(node=node, attempt=attempt).select_related("attempt__run"):
                clean(part)
            hint(PLACE)


def _forget_strangers(node: Node, held: set[int]) -> None:
    known = set(AttemptNode.objects.filter(node=node, attempt__in=held).values_list("attempt_id", flat=True))
    for attempt in held - known:
        order_forget(node, attempt)


def _watch_missing(node: Node, held: set[int], said_at: datetime, missing: dict[str, float]) -> dict[str, float]:
    """A node that is there but no longer knows what it launched (its disk was wiped) gives no other sign."""
    still: dict[str, float] = {}
    for part in _launched().filter(node=node).exclude(attempt__in=held).select_related("attempt__run"):
        since = missing.get(str(part.attempt_id), said_at.timestamp())
        if said_at.timestamp() - since > MISSING_LIMIT_S:
            lose_part(part, reason="attempt_unknown", cause=Cause.AGENT)
        else:
            still[str(part.attempt_id)] = since
    return still


def _launched() -> QuerySet[AttemptNode]:
    parts = AttemptNode.objects.filter(finished_at=None, lost_at=None, attempt__status__in=PLACED)
    return parts.exclude(launched_at=None)


def _by_node(pairs: Iterable[tuple[int | None, int]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for node, attempt in pairs:
        if node is not None:
            found[node].add(attempt)
    return dict(found)


def _drop_pipe(node: str, attempt: int) -> None:
    """After commit, drop what the attempt left in Redis: a later start of it on this node counts from 1 again."""

    def drop() -> None:
        try:
            connection().delete(names.telemetry(attempt, node))
            connection().hdel(names.acks(node), str(attempt))
        except redis.RedisError:
            return  # Redis is away, and its copy with it or overwritten later

    transaction.on_commit(drop)
