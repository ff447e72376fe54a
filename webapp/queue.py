"""Hints to the workers, by task name: sent after commit, allowed to get lost. A sweep finds the work without them."""

import logging

from django.db import transaction
from kombu.exceptions import OperationalError

from webapp.celery import app

log = logging.getLogger(__name__)

PLACE = "workers.dispatch.place"
SEND = "workers.dispatch.send_commands"
CONCLUDE = "workers.hang.conclude"
LOOK = "workers.watch.look_now"
EXPORT = "workers.exports.turn"
SEND_ALERTS = "workers.notify.send"
SEND_MENTIONS = "workers.mentions.send"


def hint(task: str, *args: object) -> None:
    """Send `task` once the current transaction has committed; a missing Redis costs delay, never the work."""
    transaction.on_commit(lambda: _send(task, args))


def later(task: str, seconds: float, *args: object) -> None:
    """The same, not before so many seconds."""
    _send(task, args, countdown=seconds)


def _send(task: str, args: tuple[object, ...], countdown: float | None = None) -> None:
    try:
        app.send_task(task, args=args, retry=False, countdown=countdown)
    except (OperationalError, OSError) as error:
        log.warning("hint %s%s not sent, the sweep will find it: %s", task, args, error)
