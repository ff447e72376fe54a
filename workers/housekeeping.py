"""Every two seconds: heartbeats to rows, nodes that went silent, time limits, rows of deleted runs, old messages."""

import logging
from datetime import datetime, timedelta

import redis
from django.utils import timezone

from webapp.alerts import deliveries
from webapp.audit import log as audit
from webapp.celery import app
from webapp.imports import lifecycle as imports
from webapp.nodes import heartbeats
from webapp.runs import lifecycle
from webapp.runs.models import Attempt, Status
from workers.removal import remove_deleted
from workers.silence import judge_silence, judge_starts

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
        judge_starts(now, since)
    enforce_limits(now)
    imports.end_silent(now)
    remove_deleted()
    deliveries.prune(now)
    audit.forget_old(now)


def enforce_limits(now: datetime) -> None:
    """Stop what has run longer than its spec allows."""
    for attempt in Attempt.objects.filter(status=Status.RUNNING).select_related("run"):
        seconds, started = attempt.run.spec.get("timeout"), attempt.started_at
        if seconds is not None and started is not None and started < now - timedelta(seconds=seconds):
            lifecycle.expire(attempt)
