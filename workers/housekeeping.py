"""Every two seconds: heartbeats to rows, nodes that went silent, time limits, rows of deleted runs."""

import logging
from datetime import datetime, timedelta

import redis
from django.conf import settings
from django.utils import timezone

from webapp.celery import app
from webapp.nodes import heartbeats
from webapp.nodes.models import Node
from webapp.runs import lifecycle
from webapp.runs.models import Attempt, AttemptNode, Status
from webapp.runs.state import PLACED
from workers.removal import remove_deleted

log = logging.getLogger(__name__)


@app.task(name="workers.housekeeping.read_heartbeats")  # type: ignore[untyped-decorator]
def read_heartbeats() -> None:
    """The whole round. Without Redis nothing is judged: the silence would be the server's own."""
    now = timezone.now()
    try:
        heartbeats.read(now)
        since = heartbeats.watching_since(now)
    except redis.RedisError as error:
        log.warning("heartbeats not read: %s", error)
    else:
        judge_silence(now, since)
    enforce_limits(now)
    remove_deleted()


def judge_silence(now: datetime, since: datetime) -> None:
    """Place elsewhere what a silent node never launched; give up what a lost node held. Unreachable alone ends nothing.

    `since`: how long heartbeats have been read without a pause.
    """
    parts = AttemptNode.objects.filter(attempt__status__in=PLACED, finished_at=None, lost_at=None)
    for part in parts.select_related("node", "attempt__run"):
        silent = _silence(part.node, now, since)
        unlaunched = part.launched_at is None and part.attempt.status == Status.STARTING
        if unlaunched and silent > settings.UNREACHABLE_AFTER_S:
            lifecycle.vanish(part)
        elif silent > settings.LOST_NODE_LIMIT_S:
            lifecycle.lose(part, silent=round(silent))


def enforce_limits(now: datetime) -> None:
    """Stop what has run longer than its spec allows."""
    for attempt in Attempt.objects.filter(status=Status.RUNNING).select_related("run"):
        seconds, started = attempt.run.spec.get("timeout"), attempt.started_at
        if seconds is not None and started is not None and started < now - timedelta(seconds=seconds):
            lifecycle.expire(attempt)


def _silence(node: Node | None, now: datetime, since: datetime) -> float:
    """Seconds for which a node could have been heard and was not."""
    heard = node.last_heard if node is not None else None
    return (now - max(heard or since, since)).total_seconds()
