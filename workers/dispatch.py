"""Celery's short acts: place what is queued, send what is ordered, and a sweep that finds both without a hint.

Every task loads, calls and is done; each may run twice or beside itself.
"""

import logging
from collections.abc import Callable

import redis
from django.db import DatabaseError
from django.utils import timezone

from webapp import queue
from webapp.celery import app
from webapp.nodes import acl
from webapp.nodes.commands import drop_accepted, due, send
from webapp.preflight.lifecycle import advance_due
from webapp.runs import scheduler
from webapp.runs.secrets import SecretUnreadable
from workers.upkeep import end_settled, retire_attached, retry_failed, stop_unreadable

log = logging.getLogger(__name__)

_MOST_AT_ONCE = 500


@app.task(name=queue.PLACE)  # type: ignore[untyped-decorator]
def place() -> None:
    """Place queued attempts."""
    try:
        scheduler.place_queued()
    except scheduler.Overbooked as error:
        log.warning("placement rolled back, the sweep decides anew: %s", error)


@app.task(name=queue.SEND)  # type: ignore[untyped-decorator]
def send_commands() -> None:
    """Send open commands, oldest first."""
    for command in due(timezone.now()).select_related("node", "attempt__run").order_by("pk")[:_MOST_AT_ONCE]:
        try:
            send(command)
        except SecretUnreadable:
            stop_unreadable(command)
        except redis.RedisError as error:
            log.warning("command %s not sent, the sweep sends it: %s", command.pk, error)
            return
        except (ValueError, TypeError, OverflowError):  # of this command's content; the others go out
            log.exception("command %s for attempt %s cannot be sent", command.pk, command.attempt_key)


@app.task(name="workers.dispatch.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Find all work by the rows alone: hints may be lost, Redis may have been emptied."""
    steps: tuple[Callable[[], object], ...] = (
        acl.ensure_all,
        end_settled,
        retry_failed,
        retire_attached,
        place,
        advance_due,
        send_commands,
        drop_accepted,
    )
    for step in steps:
        try:
            step()
        except (redis.RedisError, DatabaseError):
            log.exception("sweep: %s failed, the next sweep tries again", step.__name__)
