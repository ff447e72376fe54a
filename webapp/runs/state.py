"""Guarded writes of state: the tools of `lifecycle`, used by nobody else."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils import timezone

from webapp.live.publish import run_changed
from webapp.runs.models import Attempt, Run, RunEvent, Status

LIVE = (Status.STARTING, Status.RUNNING)
PLACED = (Status.STARTING, Status.RUNNING, Status.STOPPING)
_SHARED_WITH_RUN = ("status", "outcome", "cause", "reason", "detail", "actor", "started_at", "ended_at")


class WrongState(ValueError):
    """The act does not fit the state; the message is a sentence for people."""


def locked(attempt_id: int) -> Attempt:
    """The attempt's row, held until the transaction ends, so that transitions of one attempt come one by one."""
    return Attempt.objects.select_for_update(of=("self",)).select_related("run").get(pk=attempt_id)


def move(attempt: Attempt, sources: Iterable[Status], **fields: Any) -> bool:
    """Update the attempt if its status is one of `sources`, its run with it; False when the status was another."""
    if Attempt.objects.filter(pk=attempt.pk, status__in=list(sources)).update(**fields) != 1:
        attempt.refresh_from_db(fields=["status", "outcome", "cause", "reason", "detail", "actor"])
        return False
    for name, value in fields.items():
        setattr(attempt, name, value)
    mirror(attempt, fields)
    return True


def mirror(attempt: Attempt, fields: dict[str, Any]) -> None:
    """Copy what a run shares with its newest attempt."""
    shared = {name: value for name, value in fields.items() if name in _SHARED_WITH_RUN}
    if shared:
        Run.objects.filter(pk=attempt.run_id, attempt_count=attempt.number).update(**shared)


def record(
    attempt: Attempt,
    kind: str,
    /,
    *,
    level: str = "info",
    actor: str = "",
    rank: int | None = None,
    at: datetime | None = None,
    **data: Any,
) -> None:
    """Write one line of the run's own log and tell the pages after commit."""
    RunEvent.objects.create(
        run_id=attempt.run_id,
        attempt=attempt,
        at=at or timezone.now(),
        kind=kind,
        level=level,
        actor=actor,
        rank=rank,
        data=data,
    )
    run_changed(attempt.run)


def new_attempt(run: Run, status: Status, **fields: Any) -> Attempt:
    """The run's next attempt; the run shows its state from now on."""
    fresh = {"outcome": "", "cause": "", "reason": "", "detail": {}, "actor": ""}
    number = run.attempt_count + 1
    times = {"started_at": None, "ended_at": None}
    numbers: dict[str, Any] = {
        "last_step": None,
        "steps_per_s": None,
        "last_loss": None,
        "loss_text": "",
        "loss_since": None,
        "spark": [],
    }
    Run.objects.filter(pk=run.pk).update(attempt_count=number, health={}, status=status, **fresh, **times, **numbers)
    run.refresh_from_db()
    return Attempt.objects.create(run=run, number=number, world_size=run.world_size, status=status, **fields)
