"""What people do with nodes: drain, put back, remove."""

import logging

import redis
from django.db import transaction
from django.utils import timezone

from webapp.nodes import acl
from webapp.nodes.models import Command, Node, Slot
from webapp.queue import PLACE, hint
from webapp.runs import lifecycle
from webapp.runs.models import AttemptNode, Cause

log = logging.getLogger(__name__)


def set_draining(node: Node, draining: bool) -> None:
    """A draining node keeps its runs and gets no new ones."""
    Node.objects.filter(pk=node.pk).update(draining=draining)
    node.draining = draining
    if not draining:
        hint(PLACE)


def remove(node: Node) -> None:
    """Take a node off the list and its credentials away. What still ran there is lost; its history stays."""
    with transaction.atomic():
        if Node.objects.filter(pk=node.pk, removed_at=None).update(removed_at=timezone.now()) != 1:
            return
        for part in AttemptNode.objects.filter(node=node, finished_at=None).select_related("attempt__run", "node"):
            lifecycle.lose_part(part, reason="node_removed", cause=Cause.NODE)
        Slot.objects.filter(node=node).delete()
        Command.objects.filter(node=node, accepted_at=None).update(accepted_at=timezone.now())
    try:
        acl.remove(node)
    except redis.RedisError as error:
        log.warning("Redis user of removed node %s not taken away, the sweep does it: %s", node.uid, error)
