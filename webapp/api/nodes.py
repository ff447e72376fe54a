"""`/nodes`: machines, their slots and what holds them. Nodes belong to all teams of a server."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router

from webapp.api.auth import person
from webapp.api.schemas import NodeOut
from webapp.nodes.models import Node, Slot
from webapp.projects.access import visible
from webapp.runs.models import Run

router = Router(tags=["nodes"])


@router.get("", response=list[NodeOut], summary="All nodes")
def list_nodes(request: HttpRequest) -> list[dict[str, Any]]:
    nodes = list(Node.objects.filter(removed_at=None, attached_as="").prefetch_related("slots__attempt"))
    holding = {slot.attempt.run_id for node in nodes for slot in node.slots.all() if slot.attempt}
    names = dict(visible(Run.objects.filter(pk__in=holding), person(request)).values_list("pk", "uid"))
    return [_node(node, names) for node in nodes]


def _node(node: Node, run_names: dict[int, str]) -> dict[str, Any]:
    slots = [_slot(slot, run_names) for slot in node.slots.all()]
    fresh = timezone.now() - timedelta(seconds=settings.UNREACHABLE_AFTER_S)
    return {
        "id": node.uid,
        "name": node.name,
        "address": node.address,
        "alive": node.last_heard is not None and node.last_heard >= fresh,
        "draining": node.draining,
        "last_heard": node.last_heard,
        "agent_version": node.agent_version,
        "clock_offset": node.clock_offset,
        "slots_total": len(slots),
        "slots_free": sum(slot["free"] for slot in slots),
        "slots": slots,
        "inventory": node.inventory,
    }


def _slot(slot: Slot, run_names: dict[int, str]) -> dict[str, Any]:
    return {
        "index": slot.index,
        "kind": slot.kind,
        "model": slot.model,
        "run": run_names.get(slot.attempt.run_id) if slot.attempt else None,
        "free": slot.attempt is None,
    }
