"""What agents ask over HTTP: to join, and the code of a run. No cookie, no CSRF: a token in the call says who it is."""

import re
from typing import Any

import msgspec
import redis
from django.http import FileResponse, HttpRequest, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from trainer_agent.wire import names
from webapp.accounts.models import hash_token
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.nodes import acl, enrol
from webapp.nodes.models import Node
from webapp.redis import connection
from webapp.runs import uploads
from webapp.runs.models import AttemptNode, Status, Upload
from webapp.streaming import stream_file

_MOST_FAILURES = 30  # refused joins of one address within a minute


class JoinCall(msgspec.Struct):
    """Body of a join call."""

    token: str
    name: str = ""
    slots: int = 0
    inventory: dict[str, Any] = {}


@csrf_exempt
@require_POST
def join(request: HttpRequest) -> JsonResponse:
    """A one-time token against credentials; see docs/wire.md."""
    address = request.META.get("REMOTE_ADDR", "")
    if _failures(address) > _MOST_FAILURES:
        return refusal(429, "slow_down", _("Too many refused calls from this address. Try again in a minute."))
    try:
        call = msgspec.json.decode(request.body, type=JoinCall)
    except msgspec.MsgspecError as error:
        return refusal(400, "bad_request", _("The call cannot be read: %(error)s") % {"error": error})
    try:
        joined = enrol.join(call.token, call.name, call.slots, call.inventory)
    except enrol.JoinRefused as error:
        _count_failure(address)
        return refusal(403, "join_refused", str(error))
    note(request, Verb.NODE_JOINED, joined.node, name=_("join token"))
    return JsonResponse(
        {
            "node": joined.node.uid,
            "name": joined.node.name,
            "token": joined.token,
            "redis_url": acl.redis_url(joined.node, joined.password),
            "server_time": timezone.now().timestamp(),
        }
    )


def calling_node(request: HttpRequest) -> Node | None:
    """The node whose token the call carries."""
    match = re.fullmatch(r"Bearer (\S+)", request.headers.get("Authorization", ""))
    return Node.objects.filter(token_hash=hash_token(match[1]), removed_at=None).first() if match else None


@require_GET
def upload(request: HttpRequest, sha256: str) -> HttpResponseBase:
    """The .tar.gz, if an attempt that is on this node now uses it."""
    node = calling_node(request)
    if node is None:
        return refusal(401, "unknown_node", _("This node is not known or was removed. Join again."))
    parts = AttemptNode.objects.filter(node=node, attempt__run__spec__upload_sha256=sha256)
    part = parts.exclude(attempt__status=Status.ENDED).select_related("attempt__run").first()
    found = Upload.objects.filter(project=part.attempt.run.project_id, sha256=sha256).first() if part else None
    if found is None or not uploads.path(found).is_file():
        return refusal(404, "no_upload", _("No run on this node uses this upload."))
    return stream_file(request, FileResponse(uploads.path(found).open("rb"), content_type="application/gzip"))


def _failures(address: str) -> int:
    try:
        return int(connection().get(names.failed_joins(address)) or 0)
    except redis.RedisError:
        return 0


def _count_failure(address: str) -> None:
    try:
        with connection().pipeline() as pipe:
            pipe.incr(names.failed_joins(address))
            pipe.expire(names.failed_joins(address), 60)
            pipe.execute()
    except redis.RedisError:
        return


def refusal(status: int, code: str, sentence: str) -> JsonResponse:
    """A call that is not answered, and why."""
    return JsonResponse({"code": code, "message": sentence}, status=status)
