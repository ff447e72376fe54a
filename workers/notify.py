"""Every five seconds: what rules find becomes alerts, and what is to be told goes out.

Each round is whole by itself and may be missed or done twice: alerts and messages are rows.
"""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.utils import timezone

from webapp.alerts import deliveries, lifecycle
from webapp.alerts.default_rule import ensure_all
from webapp.alerts.firing import fires, together
from webapp.alerts.models import Alert, Delivery, Kind, Rule
from webapp.alerts.of_incidents import wants
from webapp.alerts.outgoing.channels import Letter
from webapp.alerts.outgoing.channels import send as send_letter
from webapp.alerts.outgoing.result import Result
from webapp.alerts.readings import Recorder
from webapp.celery import app
from webapp.incidents.models import Incident
from webapp.queue import SEND_ALERTS, hint
from webapp.runs.models import Attempt, Status
from webapp.runs.secrets import SecretUnreadable, decrypt

log = logging.getLogger(__name__)

_JUST_OVER = timedelta(minutes=1)  # an incident that opened and closed between two rounds is told, too
_LONGEST = timedelta(seconds=30)  # of sending, then the worker has other things to do


@app.task(name="workers.notify.evaluate")  # type: ignore[untyped-decorator]
def evaluate() -> None:
    """One round."""
    look(timezone.now())


def look(now: datetime) -> None:
    """All rules that are on, at this moment."""
    ensure_all()
    _metrics(now)
    _incidents(now)
    _close_what_is_over(now)
    lifecycle.tell(now)
    if deliveries.due(now):
        hint(SEND_ALERTS)


@app.task(name="workers.notify.send")  # type: ignore[untyped-decorator]
def send() -> None:
    """What is due, side by side, one message for each channel at a time."""
    begin = timezone.now()
    while (now := timezone.now()) < begin + _LONGEST and (rows := deliveries.claim(now)):
        with ThreadPoolExecutor(len(rows)) as threads:
            results = list(threads.map(_sent, [_letter(row) for row in rows]))
        deliveries.note(zip(rows, results, strict=True), timezone.now())


def _metrics(now: datetime) -> None:
    rules: dict[int, list[Rule]] = {}
    for rule in Rule.objects.filter(kind=Kind.METRIC, enabled=True).select_related("project"):
        rules.setdefault(rule.project_id, []).append(rule)
    running = Attempt.objects.filter(status=Status.RUNNING, run__project__in=rules, run__deleted_at=None)
    for attempt in running.select_related("run"):
        recorder = Recorder(attempt, now.timestamp())
        for rule in rules[attempt.run.project_id]:
            try:
                _look_at(rule, recorder, now)
            except DatabaseError:
                log.exception("rule %s on attempt %s: the next round tries again", rule.pk, attempt.pk)


def _look_at(rule: Rule, recorder: Recorder, now: datetime) -> None:
    readings = recorder.newest(rule)
    found = together(fires(readings, rule.condition)) if readings is not None else []
    lifecycle.keep_up(rule, recorder.attempt, found[-1] if found else None, now)


def _incidents(now: datetime) -> None:
    rules = list(Rule.objects.filter(kind=Kind.INCIDENT, enabled=True).select_related("project"))
    by_project: dict[int, list[Rule]] = {}
    for rule in rules:
        by_project.setdefault(rule.project_id, []).append(rule)
    rows = Incident.objects.filter(attempt__run__project__in=by_project, attempt__run__deleted_at=None)
    fresh = rows.filter(closed_at=None) | rows.filter(closed_at__gt=now - _JUST_OVER)
    for row in fresh.select_related("attempt__run__project"):
        for rule in by_project[row.attempt.run.project_id]:
            over_before = row.closed_at is not None and row.closed_at <= rule.changed_at
            if not over_before and wants(rule.wanted, row.kind, row.severity, row.slowdown):
                lifecycle.take_up(rule, row, now)


def _close_what_is_over(now: datetime) -> None:
    """Alerts whose rule is off, whose incident is closed, or whose run has ended."""
    still = Alert.objects.filter(closed_at=None).select_related("rule__project", "run__project", "attempt", "incident")
    for alert in still:
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
    return Letter(channel.kind, address, secret, row.pk, row.message)


def _sent(letter: Letter | Result) -> Result:
    return letter if isinstance(letter, Result) else send_letter(letter)
