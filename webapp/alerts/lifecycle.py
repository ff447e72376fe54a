"""The only writer of alerts: opened and closed by what rules find; told of once, and once that it is over."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from webapp.alerts import deliveries
from webapp.alerts.firing import SAME_AGAIN_S, Firing
from webapp.alerts.models import Alert, Kind, Rule
from webapp.alerts.silences import silence_of
from webapp.incidents.models import Incident
from webapp.runs.models import Attempt, Status

SAME_AGAIN = timedelta(seconds=SAME_AGAIN_S)
OPENED, CLOSED = "opened", "closed"
_ASKED = ("kind", "metric", "over", "comparison", "threshold", "window_s", "hold_s")


def keep_up(rule: Rule, attempt: Attempt, firing: Firing | None, now: datetime) -> None:
    """Bring the alert of a rule on a metric in line with its newest firing; None: it does not fire."""
    newest = rule.alerts.filter(run=attempt.run).order_by("-opened_at", "-pk").first()
    if newest is not None and not _asks_the_same(newest, rule):
        close(newest, now)
        newest = None
    if newest is not None and newest.closed_at is None:
        _keep_open(newest, firing, now)
    elif firing is not None:
        _begin(rule, attempt, newest, firing, now)


def take_up(rule: Rule, incident: Incident, now: datetime) -> None:
    """Bring the alert of a rule on incidents in line with an incident that it wants."""
    alert = rule.alerts.filter(incident=incident).first()
    if alert is None:
        row = Alert(rule=rule, run=incident.attempt.run, attempt=incident.attempt, incident=incident)
        row.facts, row.severity = {"kind": Kind.INCIDENT}, incident.severity
        row.opened_at, row.closed_at = incident.opened_at, incident.closed_at
        _save_new(row, now)
    elif alert.closed_at is not None and incident.closed_at is None:
        _reopen(alert, incident.attempt)


def close(alert: Alert, at: datetime) -> None:
    """It is over, unless it comes again."""
    Alert.objects.filter(pk=alert.pk, closed_at=None).update(closed_at=max(at, alert.opened_at))


def untold(now: datetime) -> list[tuple[Alert, str]]:
    """Alerts with what is to be told of them, opened, or closed once they are over for good; not what is silent."""
    rows = Alert.objects.filter(run__deleted_at=None)
    rows = rows.select_related("rule__project", "run__project", "attempt", "incident__attempt")
    over = rows.filter(told_at__isnull=False, over_told_at=None, closed_at__isnull=False)
    over = over.filter(Q(closed_at__lte=now - SAME_AGAIN) | Q(attempt__status=Status.ENDED))
    found = [(alert, OPENED) for alert in rows.filter(closed_at=None, told_at=None)]
    found += [(alert, CLOSED) for alert in over]
    return [(alert, event) for alert, event in found if silence_of(alert.rule.project, now) is None]


@transaction.atomic
def tell(alert: Alert, event: str, now: datetime) -> None:
    """Whoever sets the mark sends the message."""
    mark = "told_at" if event == OPENED else "over_told_at"
    if Alert.objects.filter(pk=alert.pk, **{mark: None}).update(**{mark: now}) == 1:
        setattr(alert, mark, now)
        deliveries.put(alert, event, now)


def facts_of(rule: Rule) -> dict[str, Any]:
    """What a rule on a metric asks, as its alerts keep it."""
    return {name: getattr(rule, name) for name in _ASKED}


def facts_at(firing: Firing) -> dict[str, Any]:
    """What was so when it began: the value in words, for JSON knows no infinity, and whose it was."""
    return {"text": str(firing.value), "rank": firing.rank}


def _asks_the_same(alert: Alert, rule: Rule) -> bool:
    return all(alert.facts.get(name) == asked for name, asked in facts_of(rule).items())


def _keep_open(alert: Alert, firing: Firing | None, now: datetime) -> None:
    if firing is None:
        close(alert, now)
    elif firing.until is not None:
        close(alert, _at(firing.until))


def _begin(rule: Rule, attempt: Attempt, newest: Alert | None, firing: Firing, now: datetime) -> None:
    """`newest` is over; what comes so soon after it is the same."""
    since, until = _at(firing.since), None if firing.until is None else _at(firing.until)
    if newest is not None and newest.closed_at is not None and since < newest.closed_at + SAME_AGAIN:
        if until is None:
            _reopen(newest, attempt)
    elif until is None or until > rule.changed_at:
        row = Alert(rule=rule, run=attempt.run, attempt=attempt, severity=rule.severity)
        row.facts, row.opened_at, row.closed_at = facts_of(rule) | facts_at(firing), since, until
        row.value = firing.value if math.isfinite(firing.value) else None
        _save_new(row, now)


@transaction.atomic
def _save_new(row: Alert, now: datetime) -> None:
    silence = silence_of(row.rule.project, now)
    row.silenced = silence.reason if silence else ""
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        return  # another worker was quicker
    if silence is None:
        tell(row, OPENED, now)


def _reopen(alert: Alert, attempt: Attempt) -> None:
    """The same again: nobody was told that it was over, unless its attempt had ended."""
    fields: dict[str, Any] = {"closed_at": None, "attempt": attempt}
    if alert.over_told_at is not None:
        fields |= {"told_at": None, "over_told_at": None}
    Alert.objects.filter(pk=alert.pk).exclude(closed_at=None).update(**fields)


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
