"""`/nodes`: machines, their slots and what holds them. Nodes belong to all teams of a server."""

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Router

from webapp.api.auth import ADMIN_AUTH, person
from webapp.api.errors import ApiError
from webapp.api.schemas import Failure, NodeOut
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.nodes import lifecycle
from webapp.nodes.models import Node, Slot
from webapp.nodes.reach import is_reachable
from webapp.nodes.standing import sentence, standing
from webapp.projects.access import require_site_admin, visible
from webapp.runs.models import Run

router = Router(tags=["nodes"])


@router.get("", response=list[NodeOut], summary="All nodes")
def list_nodes(request: HttpRequest) -> list[dict[str, Any]]:
    return _shapes(request, _ours())


@router.post(
    "/{name}/drain",
    response={200: NodeOut, 403: Failure, 404: Failure},
    summary="Place nothing new on a node",
    auth=ADMIN_AUTH,
)
def drain(request: HttpRequest, name: str) -> dict[str, Any]:
    """By name or id. Its runs go on; `state` is `drained` once nothing of any run is left there."""
    return _set_draining(request, name, draining=True)


@router.post(
    "/{name}/undrain",
    response={200: NodeOut, 403: Failure, 404: Failure},
    summary="Place there again",
    auth=ADMIN_AUTH,
)
def undrain(request: HttpRequest, name: str) -> dict[str, Any]:
    return _set_draining(request, name, draining=False)


def _set_draining(request: HttpRequest, name: str, *, draining: bool) -> dict[str, Any]:
    require_site_admin(person(request))
    found = _ours().filter(Q(name=name) | Q(uid=name))
    node = found.first()
    if node is None:
        raise ApiError(404, _("There is no node “%(name)s”.") % {"name": name})
    lifecycle.set_draining(node, draining)
    note(request, Verb.NODE_DRAINED if draining else Verb.NODE_UNDRAINED, node)
    return _shapes(request, found)[0]


def _ours() -> QuerySet[Node]:
    return Node.objects.filter(removed_at=None, attached_as="")


def _shapes(request: HttpRequest, found: QuerySet[Node]) -> list[dict[str, Any]]:
    nodes = list(found.prefetch_related("slots__attempt"))
    holding = {slot.attempt.run_id for node in nodes for slot in node.slots.all() if slot.attempt}
    names = dict(visible(Run.objects.filter(pk__in=holding), person(request)).values_list("pk", "uid"))
    now = timezone.now()
    return [_node(node, names, now) for node in nodes]


def _node(node: Node, run_names: dict[int, str], now: datetime) -> dict[str, Any]:
    slots = [_slot(slot, run_names) for slot in node.slots.all()]
    state = standing(node, now, busy=not all(slot["free"] for slot in slots))
    return {
        "id": node.uid,
        "name": node.name,
        "address": node.address,
        "alive": is_reachable(node, now),
        "state": state,
        "sentence": sentence(state, node),
        "trouble": node.vitals.get("trouble", ""),
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
