"""Who can be reached: a node that was heard within UNREACHABLE_AFTER_S."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from webapp.nodes.models import Node, Slot


def own() -> QuerySet[Node]:
    """Machines that have joined, were not removed, and are not there for one attached launch alone."""
    return Node.objects.filter(removed_at=None, attached_as="")


def heard_since(now: datetime) -> datetime:
    """A node whose `last_heard` is older than this is unreachable."""
    return now - timedelta(seconds=settings.UNREACHABLE_AFTER_S)


def is_reachable(node: Node, now: datetime) -> bool:
    return node.removed_at is None and heard_within(node, timedelta(seconds=settings.UNREACHABLE_AFTER_S), now)


def heard_within(node: Node, span: timedelta, now: datetime) -> bool:
    """Whether the node was heard in the last `span`."""
    return node.last_heard is not None and node.last_heard >= now - span


def reachable(now: datetime) -> QuerySet[Node]:
    """Nodes to place on; those of attached launches are none."""
    return own().filter(last_heard__gte=heard_since(now))


def is_clean(node: Node) -> bool:
    """No slot of the node is held by something that Paceline did not start."""
    return not node.vitals.get("dirty")


def total_slots() -> list[int]:
    """Slots of each node that has joined and was not removed, reachable or not: what could ever be free."""
    counts: dict[int, int] = dict.fromkeys(own().values_list("pk", flat=True), 0)
    for node in Slot.objects.filter(node__removed_at=None).values_list("node_id", flat=True):
        counts[node] += 1
    return list(counts.values())
