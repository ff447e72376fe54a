"""What nodes answer during a check, by HTTP with their own token; see docs/wire.md, "Pre-flight"."""

from typing import Any, TypeVar

import msgspec
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from webapp.nodes.agent_views import calling_node, refusal
from webapp.preflight import lifecycle
from webapp.preflight.models import CheckedNode

MOST_BYTES = 500_000
T = TypeVar("T")


class Opened(msgspec.Struct):
    """Body of the first answer."""

    port: int = 0
    meeting_port: int = 0
    facts: dict[str, Any] = {}


class Measured(msgspec.Struct):
    """Body of the later ones."""

    stage: str
    links: dict[str, Any] = {}


@csrf_exempt
@require_POST
def opened(request: HttpRequest, pk: int) -> HttpResponse:
    """The node has looked at itself, and listens."""
    one, call = _asked(request, pk), _body(request, Opened)
    if one is None or call is None:
        return _refused(one)
    port, meeting_port = (port if 0 < port < 65_536 else 0 for port in (call.port, call.meeting_port))
    lifecycle.take_opened(one, port, meeting_port, call.facts)
    return JsonResponse({})


@csrf_exempt
@require_POST
def measured(request: HttpRequest, pk: int) -> HttpResponse:
    """The node has measured its links."""
    one, call = _asked(request, pk), _body(request, Measured)
    if one is None or call is None:
        return _refused(one)
    lifecycle.take_measured(one, call.stage, call.links)
    return JsonResponse({})


def _asked(request: HttpRequest, pk: int) -> CheckedNode | None:
    node = calling_node(request)
    if node is None:
        return None
    return CheckedNode.objects.filter(check_of=pk, node=node).select_related("check_of", "node").first()


def _body(request: HttpRequest, shape: type[T]) -> T | None:
    if int(request.headers.get("Content-Length") or 0) > MOST_BYTES:
        return None
    try:
        return msgspec.json.decode(request.body, type=shape)
    except msgspec.MsgspecError:
        return None


def _refused(one: CheckedNode | None) -> JsonResponse:
    if one is None:
        return refusal(404, "no_check", _("This node was not asked, or is not known."))
    return refusal(400, "bad_request", _("The answer cannot be read."))
