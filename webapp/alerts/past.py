"""Try a rule on the past: when it would have fired, asked of the same functions as live."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from webapp.alerts import words
from webapp.alerts.firing import Firing, fires, together
from webapp.alerts.lifecycle import facts_at, facts_of
from webapp.alerts.models import Alert, Kind, Rule
from webapp.alerts.of_incidents import wants
from webapp.alerts.readings import Recorder
from webapp.incidents.models import Incident
from webapp.runs.models import Attempt, Run, Status

DAYS = 30
MOST_RUNS = 50
LONGEST_S = 8.0  # of looking; what could not be looked at is said
SHOWN = 40


@dataclass(frozen=True, slots=True)
class Time:
    """One time at which the rule would have fired."""

    run: Run
    since: datetime
    until: datetime | None
    sentence: str


@dataclass(slots=True)
class Past:
    """What was found, and in what."""

    times: list[Time] = field(default_factory=list)
    runs: int = 0  # of the last DAYS
    looked: int = 0  # of these, the newest
    having: int = 0  # of these, with the metric
    rolled: int = 0  # of these, looked at in means of many points

    @property
    def shown(self) -> list[Time]:
        return self.times[:SHOWN]


def try_on(rule: Rule, now: datetime) -> Past:
    """The last DAYS of the rule's project; the rule need not be saved."""
    runs = rule.project.runs.filter(deleted_at=None, created_at__gte=now - timedelta(days=DAYS))
    past, deadline = Past(runs=runs.count()), time.monotonic() + LONGEST_S
    for run in runs.order_by("-created_at", "-pk")[:MOST_RUNS]:
        if time.monotonic() > deadline:
            break
        past.looked += 1
        past.times += _of_incidents(rule, run) if rule.kind == Kind.INCIDENT else _of_metric(rule, run, past, now)
    past.times.sort(key=lambda one: one.since, reverse=True)
    return past


def _of_metric(rule: Rule, run: Run, past: Past, now: datetime) -> Iterator[Time]:
    firings: list[Firing] = []
    having = rolled = False
    for attempt in run.attempts.select_related("run").order_by("number"):
        end = (attempt.ended_at or now) if attempt.status == Status.ENDED else now
        readings = Recorder(attempt, end.timestamp()).whole(rule)
        if readings is not None:
            having, rolled = True, rolled or readings.rolled
            firings += [_ended(firing, attempt, end) for firing in fires(readings, rule.condition)]
    past.having += having
    past.rolled += rolled
    for firing in together(firings):
        facts = facts_of(rule) | facts_at(firing)
        alert = Alert(rule=rule, run=run, facts=facts, value=firing.value)
        until = None if firing.until is None else _at(firing.until)
        yield Time(run, _at(firing.since), until, words.sentence(alert))


def _ended(firing: Firing, attempt: Attempt, end: datetime) -> Firing:
    """What lasts to the end of an attempt is over with it."""
    if attempt.status != Status.ENDED or firing.until is not None:
        return firing
    return replace(firing, until=end.timestamp())


def _of_incidents(rule: Rule, run: Run) -> Iterator[Time]:
    for row in (
        Incident.objects.filter(attempt__run=run).select_related("attempt__run").prefetch_related("attempt__parts")
    ):
        if wants(rule.wanted, row.kind, row.severity, row.slowdown):
            yield Time(run, row.opened_at, row.closed_at, words.sentence(Alert(rule=rule, run=run, incident=row)))


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
