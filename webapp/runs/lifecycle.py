"""The only writer of a run's state. docs/lifecycle.md draws the machine; each function is one transition.

Every function is safe to call twice and refuses a state that it does not fit. What nodes report comes in by
`apply_event`, what ingest stored by `note_data`; the tools are in `state.py`, the ways to the end in `settle.py`.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from webapp.accounts.models import User
from webapp.history.record import note_spec
from webapp.nodes.commands import withdraw_start
from webapp.nodes.models import Command, CommandKind
from webapp.projects.models import Project
from webapp.queue import PLACE, hint
from webapp.runs.facts import note_data, note_process
from webapp.runs.models import Attempt, AttemptNode, Cause, Outcome, Run, RunEvent, Status
from webapp.runs.node_events import apply_event
from webapp.runs.secrets import keep
from webapp.runs.settle import forget, free_slots, lose_part, settle, stop, stop_parts
from webapp.runs.spec import RunSpec
from webapp.runs.state import WrongState, locked, move, new_attempt, record

__all__ = [
    "WrongState",
    "apply_event",
    "create",
    "delete",
    "expire",
    "leave_unanswered",
    "lose",
    "lose_part",
    "note_data",
    "note_process",
    "purge",
    "request_stop",
    "requeue",
    "restart",
    "restore",
    "retry",
    "settle",
    "vanish",
]

_RETRIED = (Outcome.FAILED, Outcome.LOST)


def create(*, project: Project, owner: User, name: str, spec: RunSpec, secrets: dict[str, str]) -> Run:
    """- -> queued: a run with its first attempt. `secrets` are encrypted; the spec keeps only their names."""
    spec = spec.model_copy(update={"secret_names": sorted(secrets)})
    with transaction.atomic():
        run = Run.objects.create(
            project=project,
            owner=owner,
            name=name,
            spec=spec.model_dump(mode="json"),
            world_size=spec.world_size,
            total_steps=spec.total_steps,
        )
        keep(run, secrets)
        note_spec(run)
        _new_attempt(run, "created", owner.username)
    return run


@transaction.atomic
def request_stop(run: Run, actor: str) -> bool:
    """Ask for the end. queued ends at once; starting and running turn to stopping. False when there was nothing to do.

    A run that is stopping because it failed stays failed, but is not retried.
    """
    attempt = newest(run)
    Attempt.objects.filter(pk=attempt.pk, stop_requested_at=None).exclude(status=Status.ENDED).update(
        stop_requested_at=timezone.now()
    )
    told: dict[str, Any] = {"cause": Cause.USER, "reason": "user_stop", "actor": actor}
    now = timezone.now()
    ended = {"status": Status.ENDED, "outcome": Outcome.STOPPED, "ended_at": now, "waits_for": {}, "detail": {}}
    if move(attempt, (Status.QUEUED,), **ended, **told):
        record(attempt, "stopped", level="warn", **told)
        hint(PLACE)
        return True
    if run.is_attached and attempt.status == Status.STOPPING:  # one node has failed; a person ends the others
        asked = attempt.commands.filter(kind=CommandKind.STOP).exists()
        if not asked:
            stop_parts(attempt, run.spec["grace"], "user_stop")
        return not asked
    return stop(attempt, cause=Cause.USER, reason="user_stop", actor=actor)


@transaction.atomic
def expire(attempt: Attempt) -> bool:
    """running -> stopping: the time limit of the spec is over."""
    seconds = attempt.run.spec.get("timeout")
    return stop(attempt, cause=Cause.LIMIT, reason="time_limit", actor="time limit", detail={"seconds": seconds})


@transaction.atomic
def restart(run: Run, actor: str) -> Attempt:
    """ended -> queued, as a new attempt. WrongState while the newest attempt goes on or when the run is deleted."""
    if run.is_attached:
        raise WrongState(_("This run was not launched here. Launch it again where you did: it becomes a new attempt."))
    if newest(run).status != Status.ENDED or run.deleted_at is not None:
        raise WrongState(_("This run has not ended yet. Stop it first, then run it again."))
    return _new_attempt(run, "restarted", actor)


@transaction.atomic
def retry(attempt: Attempt) -> Attempt | None:
    """ended, failed or lost, retries left -> queued, as a new attempt. None when that does not fit."""
    attempt = locked(attempt.pk)
    run = attempt.run
    used = RunEvent.objects.filter(run=run, kind="retried").count()
    fits = attempt.status == Status.ENDED and attempt.outcome in _RETRIED and attempt.number == run.attempt_count
    if not fits or attempt.stop_requested_at or run.deleted_at or used >= run.spec.get("retries", 0):
        return None
    return _new_attempt(run, "retried", "scheduler")


@transaction.atomic
def requeue(attempt: Attempt, node: str, why: str = "requeued", **told: Any) -> bool:
    """starting -> queued, the same attempt: a node vanished before anything had been launched anywhere."""
    attempt = locked(attempt.pk)
    if attempt.parts.exclude(launched_at=None).exists():
        return False
    fields = {"status": Status.QUEUED, "placed_at": None, "master_addr": "", "master_port": None, "port_tries": 0}
    if not move(attempt, (Status.STARTING,), **fields):
        return False
    for part in attempt.parts.select_related("node"):
        if withdraw_start(part):
            free_slots(part)
        else:
            forget(part)  # its slots come back when its heartbeat no longer lists the attempt
    attempt.parts.all().delete()
    attempt.ranks.all().delete()
    attempt.commands.exclude(kind=CommandKind.FORGET).delete()
    record(attempt, why, level="warn", actor="heartbeat watch", node=node, **told)
    hint(PLACE)
    return True


@transaction.atomic
def vanish(part: AttemptNode) -> None:
    """A node cannot be reached before its part was launched: place the attempt elsewhere, or end it if others run."""
    if not requeue(part.attempt, part.node_name):
        part.attempt = locked(part.attempt_id)
        if part.attempt.status == Status.STARTING:
            lose_part(part, reason="node_vanished", cause=Cause.NODE)


@transaction.atomic
def leave_unanswered(part: AttemptNode, seconds: int) -> None:
    """A node that can be reached does not take the order to start: as if it had vanished."""
    if not requeue(part.attempt, part.node_name, "not_accepted", seconds=seconds):
        part.attempt = locked(part.attempt_id)
        if part.attempt.status == Status.STARTING:
            lose_part(part, reason="start_unanswered", cause=Cause.AGENT, seconds=seconds)


@transaction.atomic
def lose(part: AttemptNode, silent: int, *, peers_failed: bool = False) -> None:
    """A node has been silent too long (`silent` seconds): its part is given up.

    Too long is the limit for lost nodes, or much shorter once ranks of other nodes have failed meanwhile.
    """
    part.attempt = locked(part.attempt_id)
    lose_part(part, reason="node_silent" if peers_failed else "node_lost", cause=Cause.NODE, silent=silent)


@transaction.atomic
def delete(run: Run, actor: str) -> None:
    """Any state: hide the run and stop it. It can be restored until `purge`, when its nodes forget it.

    An attached launch is no longer watched; it goes on.
    """
    if Run.objects.filter(pk=run.pk, deleted_at=None).update(deleted_at=timezone.now()) != 1:
        return
    run.refresh_from_db()
    if run.is_attached:
        purge(run)
    else:
        request_stop(run, actor)
    record(newest(run), "deleted", level="warn", actor=actor)


@transaction.atomic
def restore(run: Run, actor: str) -> bool:
    """Undo `delete`; what was stopped stays stopped. False when there is nothing to undo."""
    again = Run.objects.filter(project=run.project_id, job_key=run.job_key, deleted_at=None).exclude(job_key="")
    fields = {"deleted_at": None} | ({"job_key": ""} if again.exists() else {})
    if Run.objects.filter(pk=run.pk).exclude(deleted_at=None).update(**fields) != 1:
        return False
    record(newest(run), "restored", level="ok", actor=actor)
    return True


@transaction.atomic
def purge(run: Run) -> None:
    """Make the nodes drop all that they hold of a deleted run, once. Its rows go when none holds anything of it."""
    told = Command.objects.filter(kind=CommandKind.FORGET, created_at__gte=run.deleted_at)
    for attempt in run.attempts.all():
        for part in attempt.parts.exclude(node=None).select_related("node"):
            if not told.filter(node=part.node, attempt_key=attempt.pk).exists():
                forget(part)


def newest(run: Run) -> Attempt:
    """The attempt whose state the run shows, locked."""
    found = Attempt.objects.select_for_update(of=("self",)).select_related("run").filter(run=run)
    return found.order_by("-number")[0]


def _new_attempt(run: Run, kind: str, actor: str) -> Attempt:
    attempt = new_attempt(run, Status.QUEUED)
    record(attempt, kind, actor=actor, attempt=attempt.number)
    hint(PLACE)
    return attempt
