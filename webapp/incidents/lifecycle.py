"""The only writer of incidents: opened, kept up and closed by findings; acknowledged, assigned and closed by people."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from webapp.accounts.models import User
from webapp.incidents import words
from webapp.incidents.finding import JOB, NETWORK, Finding
from webapp.incidents.models import Incident, IncidentEvent, Severity
from webapp.live.publish import run_changed
from webapp.runs.models import Attempt, Run
from webapp.runs.state import record

QUIET_STEPS = 20  # without a finding, and
QUIET = timedelta(seconds=5)  # so long, before an incident is over
SAME_AGAIN = timedelta(minutes=10)  # what comes back sooner is the same incident
_WARNING, _CRITICAL = 0.05, 0.20  # slowdown from which on


def severity_of(finding: Finding) -> Severity:
    """By impact."""
    if finding.stopped or finding.slowdown >= _CRITICAL:
        return Severity.CRITICAL
    return Severity.WARNING if finding.slowdown >= _WARNING else Severity.INFO


@transaction.atomic
def apply(
    attempt: Attempt, findings: Iterable[Finding], *, kinds: Iterable[str], step: int | None, now: datetime
) -> None:
    """Bring the attempt's open incidents of `kinds` in line with what was found at `step`."""
    rows = attempt.incidents.select_for_update().filter(closed_at=None, kind__in=list(kinds))
    opened = {(row.kind, row.subject): row for row in rows}
    changed = False
    for finding in findings:
        row = opened.pop((finding.kind, finding.subject), None) or opened.pop(_before_it_was_placed(finding), None)
        changed |= _keep_up(row, finding, step, now) if row else _open(attempt, finding, step, now)
    for row in opened.values():
        if _is_quiet(row, step, now):
            changed |= _close(row, now)
    if changed:
        _tell(attempt)


@transaction.atomic
def over(attempt: Attempt, kinds: Iterable[str], now: datetime, *, spare: Iterable[str] = ()) -> None:
    """The open incidents of these kinds are plainly over; those of `spare` subjects stay."""
    rows = list(attempt.incidents.filter(closed_at=None, kind__in=list(kinds)).exclude(subject__in=list(spare)))
    for row in rows:
        _close(row, now)
    if rows:
        _tell(attempt)


@transaction.atomic
def end(attempt: Attempt, now: datetime) -> None:
    """The attempt has ended, and its incidents with it."""
    rows = list(attempt.incidents.filter(closed_at=None))
    for row in rows:
        _close(row, now, run_ended=True)
    if rows:
        _tell(attempt)


@transaction.atomic
def acknowledge(incident: Incident, user: User, now: datetime) -> bool:
    """Somebody has seen it. False when somebody had before."""
    fields = {"acknowledged_at": now, "acknowledged_by": user}
    if Incident.objects.filter(pk=incident.pk, acknowledged_at=None).update(**fields) != 1:
        return False
    _note(incident, "acknowledged", now, actor=user.username)
    return True


@transaction.atomic
def assign(incident: Incident, user: User, to: User | None, now: datetime) -> None:
    """Make it somebody's; None: nobody's."""
    Incident.objects.filter(pk=incident.pk).update(assignee=to)
    _note(incident, "assigned", now, actor=user.username, to=to.username if to else "")


@transaction.atomic
def comment(incident: Incident, user: User, text: str, now: datetime) -> None:
    """Say something about it."""
    _note(incident, "comment", now, actor=user.username, text=text)


@transaction.atomic
def confirm(incident: Incident, user: User, cause: str, now: datetime) -> None:
    """A person says what the cause is; no detector says otherwise after that. `cause`: one of `words.CAUSES`."""
    Incident.objects.filter(pk=incident.pk).update(cause=cause, probable=False, cause_by=user.username)
    _note(incident, "confirmed", now, actor=user.username, cause=cause)
    _tell(incident.attempt)


@transaction.atomic
def close(incident: Incident, user: User, now: datetime) -> bool:
    """A person says that it is over. Found again later than `SAME_AGAIN`, it is a new one. False when it was closed."""
    if not _close(incident, now, actor=user.username):
        return False
    _tell(incident.attempt)
    return True


def _open(attempt: Attempt, finding: Finding, step: int | None, now: datetime) -> bool:
    same = attempt.incidents.filter(kind=finding.kind, subject=finding.subject, closed_at__gt=now - SAME_AGAIN)
    row = same.order_by("-closed_at").first()
    if row is not None and row.closed_by:
        return False  # a person knows of it and wants to hear no more for now
    if row is not None:
        row.closed_at, row.seen_at = None, now
        _write(row, finding, step)
        _note(row, "reopened", now)
        _record(row, "incident_opened")
        return True
    row = Incident(attempt=attempt, kind=finding.kind, subject=finding.subject, opened_step=finding.since)
    row.opened_at = row.seen_at = now
    row.rank, row.node_rank, row.link = finding.rank, finding.node_rank, finding.link
    row.severity = severity_of(finding)
    _write(row, finding, step)
    _note(row, "opened", now, cause=finding.cause, slowdown=finding.slowdown)
    _record(row, "incident_opened")
    return True


def _keep_up(row: Incident, finding: Finding, step: int | None, now: datetime) -> bool:
    before = _shown(row)
    if row.subject != finding.subject:
        row.subject, row.rank, row.node_rank, row.link = finding.subject, finding.rank, finding.node_rank, finding.link
        _note(row, "placed", now)
    row.gpu_hours += _lost_slots(finding, row.attempt.world_size) * max(0.0, (now - row.seen_at).total_seconds()) / 3600
    row.seen_at = now
    if severity_of(finding) != row.severity and _rank(severity_of(finding)) > _rank(row.severity):
        row.severity = severity_of(finding)
        _note(row, "worse", now, slowdown=finding.slowdown)
    if not row.cause_by and finding.cause not in (row.cause, "unknown"):
        _note(row, "cause", now, cause=finding.cause)
    _write(row, finding, step)
    return before != _shown(row)


def _before_it_was_placed(finding: Finding) -> tuple[str, str]:
    """A slow network is known by the steps of the job before its links tell where: that is no second incident."""
    return finding.kind, JOB if finding.kind == NETWORK else finding.subject


def _shown(row: Incident) -> tuple[str, str, str, float]:
    return row.subject, row.severity, row.cause, round(row.slowdown, 2)


def _lost_slots(finding: Finding, world_size: int) -> float:
    """How many slots' whole time goes into it."""
    share = 1.0 if finding.stopped else finding.slowdown / (1 + finding.slowdown)
    return finding.idle_slots or share * world_size


def _write(row: Incident, finding: Finding, step: int | None) -> None:
    if not row.cause_by and (finding.cause != "unknown" or not row.cause):
        row.cause, row.probable = finding.cause, finding.probable
    row.slowdown, row.evidence, row.victims = finding.slowdown, finding.evidence, list(finding.victims)
    row.seen_step = step
    row.save()


def _is_quiet(row: Incident, step: int | None, now: datetime) -> bool:
    if now - row.seen_at < QUIET:
        return False
    return row.seen_step is None or step is None or step - row.seen_step >= QUIET_STEPS


def _close(row: Incident, now: datetime, *, actor: str = "", run_ended: bool = False) -> bool:
    if Incident.objects.filter(pk=row.pk, closed_at=None).update(closed_at=now, closed_by=actor) != 1:
        return False
    _note(row, "closed", now, actor=actor, run_ended=run_ended)
    if not run_ended:
        _record(row, "incident_closed", actor)
    return True


def _note(row: Incident, kind: str, now: datetime, *, actor: str = "", text: str = "", **data: Any) -> None:
    IncidentEvent.objects.create(incident=row, kind=kind, at=now, actor=actor, text=text, data=data)


def _record(row: Incident, kind: str, actor: str = "") -> None:
    """In the run's own log too, where it stays to be read."""
    bad = {Severity.CRITICAL.value: "crit", Severity.WARNING.value: "warn"}.get(row.severity, "info")
    level = "ok" if kind == "incident_closed" else bad
    record(row.attempt, kind, level=level, actor=actor, rank=row.rank, text=words.sentence(row), incident=row.pk)


def _tell(attempt: Attempt) -> None:
    """The list row says what is worst now; pages read again."""
    run = attempt.run
    if run.attempt_count == attempt.number:
        worst = sorted(attempt.incidents.filter(closed_at=None), key=_how_bad)
        run.health = _health(worst[0]) if worst else {}
        Run.objects.filter(pk=run.pk, attempt_count=attempt.number).update(health=run.health)
    run_changed(run)


def _health(row: Incident) -> dict[str, Any]:
    health = {"kind": row.kind, "cause": row.cause, "rank": row.rank, "node": row.node_rank, "incident": row.pk}
    health["severity"] = row.severity
    if row.node_rank is not None:
        health["node_name"] = dict(row.attempt.parts.values_list("node_rank", "node_name")).get(row.node_rank, "")
    return {**health, "slowdown": round(row.slowdown, 2)} if row.slowdown else health


def _rank(severity: str) -> int:
    return list(Severity.values).index(severity)


def _how_bad(row: Incident) -> tuple[bool, int, float]:
    """Sorts the worst first; a hang has no slowdown and is worse than any."""
    return row.kind != "hang", -_rank(row.severity), -row.slowdown
