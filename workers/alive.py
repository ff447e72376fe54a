"""Signs of life of the server's parts, for /healthz. They fade by themselves after names.ALIVE_TTL seconds."""

import logging
import time

import redis
from celery import signals

from trainer_agent.wire import names
from webapp.redis import connection

log = logging.getLogger(__name__)

_EVERY_S = 1.0
_last: dict[str, float] = {}


def show(part: str) -> None:
    """Call often: writes at most once a second. A Redis that is away is no reason to stop."""
    now = time.monotonic()
    if now - _last.get(part, -_EVERY_S) < _EVERY_S:
        return
    _last[part] = now
    try:
        connection().set(names.alive(part), int(time.time()), ex=names.ALIVE_TTL)
    except redis.RedisError as error:
        log.warning("sign of life of %s not written: %s", part, error)


@signals.task_postrun.connect  # type: ignore[untyped-decorator]
def _a_task_ran(**_: object) -> None:
    show("worker")
