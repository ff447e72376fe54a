"""Every five seconds: what rules find becomes alerts, and what is to be told goes out.

Each round is whole by itself and may be missed or done twice: alerts and messages are rows. What cannot be looked at
or told is logged and left to the next round; it does not stop the others.
"""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TypeVar

from django.utils import timezone

from webapp.alerts import deliveries, lifecycle, queries
from webapp.alerts.default_rule import ensure_all
from webapp.alerts.firing import fires, together
from webapp.alerts.models import Alert, Channel, Delivery, Kind, Rule
from webapp.alerts.of_incidents import wants
from webapp.alerts.outgoing.channels import Letter
from webapp.alerts.outgoing.channels import send as send_letter
from webapp.alerts.outgoing.result import Result
from webapp.alerts.readings import Recorder
from webapp.celery import app
from webapp.incidents.models import Incident
from webapp.notes import mail as mention_mail
from webapp.queue import SEND_ALERTS, SEND_MENTIONS, hint
from webapp.runs.models import Attempt, Status
from webapp.runs.secrets import SecretUnreadable, decrypt

log = logging.getLogger(__name__)
T = TypeVar("T")

_JUST_OVER = timedelta(minutes=1)  # an incident that opened and closed between two rounds is told, too
_LONGEST = timedelta(seconds=30)  # of sending, then the worker has other things to do


@app.task(name="workers.notify.evaluate")  # type: ignore[untyped-decorator]
def evaluate() -> None:
    """One round."""
    look(timezone.now())


@app.task(name="workers.notify.send")  # type: ignore[untyped-decorator]
def send() -> None:
    """What is due, side by side, one message for each channel at a time."""
    begin = timezone.now()
    while (now := timezone.now()) < begin + _LONGEST and (rows := deliveries.claim(now)):
        with ThreadPoolExecutor(len(rows)) as threads:
            results = list(threads.map(_sent, [_letter(row) for row in rows]))
        deliveries.note(zip(rows, results, strict=True), timezone.now())


def look(now: datetime) -> None:
    """All rules that are on, at this moment."""
    ensure_all()
    _each(_metrics(now), lambda found: _look_at(*found, now))
    _each(_incidents(now), lambda found: lifecycle.take_up(*found, now))
    _each(_open_alerts(), lambda alert: _close_if_over(alert, now))
    _each(lifecycle.untold(now), lambda found: lifecycle.tell(*found, now))
    if deliveries.due(now):
        hint(SEND_ALERTS)
    if mention_mail.due(now):
        hint(SEND_MENTIONS)


def _each(things: Iterable[T], act: Callable[[T], None]) -> None:
    for thing in things:
        try:
            act(thing)
        except Exception:
            log.exception("%s: the next round tries again", thing)


def _metrics(now: datetime) -> Iterable[tuple[Rule, Recorder]]:
    rules = _rules(Kind.METRIC)
    running = Attempt.objects.filter(status=Status.RUNNING, run__project__in=rules, run__deleted_at=None)
    for attempt in running.select_related("run"):
        recorder = Recorder(attempt, now.timestamp())
        yield from ((rule, recorder) for rule in rules[attempt.run.project_id])


def _look_at(rule: Rule, recorder: Recorder, now: datetime) -> None:
    readings = recorder.newest(rule)
    found = together(fires(readings, rule.condition)) if readings is not None else []
    lifecycle.keep_up(rule, recorder.attempt, found[-1] if found else None, now)


def _incidents(now: datetime) -> Iterable[tuple[Rule, Incident]]:
    rules = _rules(Kind.INCIDENT)
    rows = Incident.objects.filter(attempt__run__project__in=rules, attempt__run__deleted_at=None)
    fresh = rows.filter(closed_at=None) | rows.filter(closed_at__gt=now - _JUST_OVER)
    for row in fresh.select_related("attempt__run__project"):
        for rule in rules[row.attempt.run.project_id]:
            over_before = row.closed_at is not None and row.closed_at <= rule.changed_at
            if not over_before and wants(rule.wanted, row.kind, row.severity, row.slowdown):
                yield rule, row


def _rules(kind: Kind) -> dict[int, list[Rule]]:
    """Those that are on, by project."""
    found: dict[int, list[Rule]] = {}
    for rule in Rule.objects.filter(kind=kind, enabled=True).select_related("project"):
        found.setdefault(rule.project_id, []).append(rule)
    return found


def _open_alerts() -> Iterable[Alert]:
    return list(Alert.objects.filter(closed_at=None).select_related("rule", "attempt", "incident"))


def _close_if_over(alert: Alert, now: datetime) -> None:
    """Its rule is off, its incident closed, or its run ended."""
    if not alert.rule.enabled:
        lifecycle.close(alert, now)
    elif alert.incident is not None and alert.incident.closed_at is not None:
        lifecycle.close(alert, alert.incident.closed_at)
    elif alert.incident is None and alert.attempt.status == Status.ENDED:
        lifecycle.close(alert, alert.attempt.ended_at or now)


def _letter(row: Delivery) -> Letter | Result:
    channel = row.channel
    try:
        address = decrypt(bytes(channel.address))
        secret = decrypt(bytes(channel.secret)) if channel.secret else ""
    except SecretUnreadable as error:
        return Result(ok=False, error=str(error), hopeless=True)
    languages = queries.languages_of(address.split(",")) if channel.kind == Channel.Kind.EMAIL else {}
    return Letter(channel.kind, address, secret, row.pk, row.message, languages, frozenset(row.reached))


def _sent(letter: Letter | Result) -> Result:
    if isinstance(letter, Result):
        return letter
    try:
        return send_letter(letter)
    except Exception as error:
        log.exception("message %s cannot be sent", letter.delivery)
        return Result(ok=False, error=type(error).__name__, hopeless=True)
