"""`GET /healthz`: 200 when every part is ready, else 503 and the part that is not. Tells nothing about content."""

from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from trainer_agent.wire import names
from webapp.nodes.models import Node
from webapp.redis import connection as redis_connection

OK = "ok"


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """`{"status": "ok" | "not ready", "parts": {part: "ok" or what is wrong}}`."""
    parts = {name: check() for name, check in _CHECKS.items()}
    ready = all(state == OK for state in parts.values())
    return JsonResponse({"status": OK if ready else "not ready", "parts": parts}, status=200 if ready else 503)


def _database() -> str:
    try:
        connection.ensure_connection()
        Node.objects.exists()
    except DatabaseError as error:
        return f"the database does not answer ({type(error).__name__})"
    return OK


def _redis() -> str:
    try:
        redis_connection().ping()
    except redis.RedisError as error:
        return f"Redis does not answer ({type(error).__name__})"
    return OK


def _alive(part: str) -> Callable[[], str]:
    def check() -> str:
        try:
            lives = redis_connection().exists(names.alive(part))
        except redis.RedisError:
            return "not known without Redis"
        return OK if lives else f"no sign of life in the last {names.ALIVE_TTL} s"

    return check


def _nodes() -> str:
    """Only the nodes that this installation promises to have, see LOCAL_NODES."""
    try:
        missing = [name for name in settings.LOCAL_NODES if not _heard(name)]
    except (redis.RedisError, DatabaseError):
        return "not known without Redis and database"
    return OK if not missing else f"not heard: {', '.join(missing)}"


def _heard(name: str) -> bool:
    uid = Node.objects.filter(name=name, removed_at=None).values_list("uid", flat=True).first()
    return uid is not None and bool(redis_connection().exists(names.heartbeat(uid)))


_CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "redis": _redis,
    **{part: _alive(part) for part in names.ALIVE_PARTS},
    "nodes": _nodes,
}
