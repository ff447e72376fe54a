"""Messages on their way: the rows are the queue and the log. Written here only; nothing here talks to the network."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import QuerySet

from webapp.alerts.models import Alert, Channel, Delivery
from webapp.alerts.outgoing import message
from webapp.alerts.outgoing.result import Result
from webapp.queue import SEND_ALERTS, hint

AT_ONCE = 8  # messages that one round sends side by side
CLAIM = timedelta(seconds=60)  # a sender that has not said how it went by then is dead
KEPT, BITE = timedelta(days=90), 500  # of messages that were sent or given up; rows at once
FIRST_WAIT_S, LONGEST_WAIT_S, FACTOR, TRIES = 10, 1800, 3, 8  # about two hours in all


def put(alert: Alert, event: str, now: datetime) -> None:
    """A message to every channel of the alert's project, in the transaction of what it tells."""
    channels = list(alert.rule.project.alert_channels.all())
    if channels:
        said = partial(message.of_alert, alert, event)
        Delivery.objects.bulk_create(
            Delivery(channel=channel, alert=alert, message=message.for_channel(channel, said)) for channel in channels
        )
        hint(SEND_ALERTS)


@transaction.atomic
def put_test(channel: Channel, username: str) -> None:
    """A message that says that messages arrive."""
    said = partial(message.of_test, channel, username)
    Delivery.objects.create(channel=channel, message=message.for_channel(channel, said))
    hint(SEND_ALERTS)


def prune(now: datetime) -> None:
    """Forget messages that came to their end long ago: a bite of them, so that nobody waits long for the write lock."""
    old = Delivery.objects.filter(ended_at__lt=now - KEPT).order_by("ended_at").values_list("pk", flat=True)[:BITE]
    if bite := list(old):
        Delivery.objects.filter(pk__in=bite).delete()


def due(now: datetime) -> bool:
    """Whether something is to be sent."""
    return _due(now).exists()


@transaction.atomic
def claim(now: datetime) -> list[Delivery]:
    """The oldest that are due, one for each channel, for the caller alone; none while another sender is at work."""
    if Delivery.objects.filter(state=Delivery.State.SENDING, next_at__gt=now).exists():
        return []
    found: dict[int, Delivery] = {}
    for row in _due(now).select_related("channel").order_by("pk")[: AT_ONCE * 8]:
        if row.channel_id not in found and len(found) < AT_ONCE:
            found[row.channel_id] = row
    return [row for row in found.values() if _claimed(row, now)]


@transaction.atomic
def note(rows: Iterable[tuple[Delivery, Result]], now: datetime) -> None:
    """How each went: sent, to be tried again later, or given up."""
    for row, result in rows:
        wait = None if result.ok or result.hopeless else wait_after(row.tries)
        row.status, row.error, row.reached = result.status, result.error[:300], sorted({*row.reached, *result.reached})
        if wait is not None:
            row.state, row.next_at = Delivery.State.WAITING, now + wait
        else:
            row.state, row.ended_at = Delivery.State.SENT if result.ok else Delivery.State.FAILED, now
        row.save(update_fields=["state", "status", "error", "reached", "next_at", "ended_at"])


def wait_after(tries: int) -> timedelta | None:
    """How long to wait after so many tries; None: give up."""
    if tries >= TRIES:
        return None
    return timedelta(seconds=min(LONGEST_WAIT_S, FIRST_WAIT_S * FACTOR ** (tries - 1)))


def _due(now: datetime) -> QuerySet[Delivery]:
    open_states = [Delivery.State.WAITING, Delivery.State.SENDING]
    return Delivery.objects.filter(state__in=open_states, next_at__lte=now)


def _claimed(row: Delivery, now: datetime) -> bool:
    fields = {"state": Delivery.State.SENDING, "tries": row.tries + 1, "next_at": now + CLAIM}
    mine = Delivery.objects.filter(pk=row.pk, state=row.state, tries=row.tries, next_at=row.next_at)
    if mine.update(**fields) != 1:
        return False
    row.state, row.tries, row.next_at = Delivery.State.SENDING, row.tries + 1, now + CLAIM
    return True
