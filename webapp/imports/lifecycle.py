"""The only writer of imports and of the state of imported runs: nobody launches, watches or stops those.

While an importer follows a run that still trains, it is running; else it has ended as its source says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import Event
from webapp.accounts.models import User
from webapp.history.models import Tag
from webapp.history.record import note_told
from webapp.imports.models import Imported
from webapp.live.publish import wake_ingest
from webapp.nodes.models import new_node_uid
from webapp.projects.models import Project
from webapp.redis import connection
from webapp.runs.models import Attempt, AttemptNode, Outcome, RankState, Run, Status
from webapp.runs.spec import RunSpec
from webapp.runs.state import WrongState, mirror, new_attempt, record

PROGRESS = "imported"  # the event that carries how far the importer has read
WINDOW = 64  # messages that may be under way
SILENT = timedelta(minutes=2)  # an importer that follows a run says something much more often


class BadBatch(ValueError):
    """Not a message of this import; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an importer knows of a run before its points. `live`: it goes on, and the importer follows it."""

    kind: str
    source: str
    name: str
    live: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: Outcome = Outcome.SUCCEEDED
    config: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@transaction.atomic
def begin(project: Project, owner: User, asked: Asked) -> Imported:
    """The import of this source: a new run, or the one that was made of it before."""
    rows = Imported.objects.select_for_update(of=("self",)).filter(project=project, source=asked.source)
    row = rows.select_related("run").first()
    if row is not None and row.run.deleted_at is not None:
        rows.update(source=f"deleted {row.pk}")
        row = None
    row = row or _made(project, owner, asked)
    Imported.objects.filter(pk=row.pk).update(heard_at=timezone.now())
    _set_state(row.run, asked)
    note_told(row.run, asked.config)
    Tag.objects.bulk_create([Tag(run=row.run, name=tag[:60]) for tag in asked.tags], ignore_conflicts=True)
    return row


def take(row: Imported, body: bytes) -> int:
    """Hand one message to ingest, the way a node does. Returns the number of the last one that is stored."""
    part = part_of(row)
    try:
        batch = codec.decode_batch(body)
    except codec.BadMessage as error:
        raise BadBatch(str(error)) from error
    if (batch.attempt, batch.node) != (part.attempt_id, part.node_uid):
        raise BadBatch(_("it is about another run"))
    if batch.steps or batch.samples or batch.logs or any(event.kind != PROGRESS for event in batch.events):
        raise BadBatch(_("an import holds values only"))
    if not part.applied_seq < batch.seq <= part.applied_seq + WINDOW:
        return heard(row)
    Attempt.objects.filter(pk=part.attempt_id).update(compacted=False)
    key = names.telemetry(part.attempt_id, part.node_uid)
    connection().xadd(key, {names.FIELD: body}, maxlen=2 * WINDOW, approximate=False)
    wake_ingest()
    return heard(row)


def heard(row: Imported) -> int:
    """The importer asks how far it is: number of the last message that is stored."""
    Imported.objects.filter(pk=row.pk).update(heard_at=timezone.now())
    return part_of(row).applied_seq


def note(part: AttemptNode, event: Event) -> None:
    """Points were stored, and with them how far the importer had read. Inside ingest's transaction."""
    cursor = event.data.get("cursor")
    rows = Imported.objects.filter(run=part.attempt.run_id)
    if isinstance(cursor, dict) and rows.update(cursor=cursor):
        told = event.data.get("config")
        note_told(part.attempt.run, told if isinstance(told, dict) else {})


@transaction.atomic
def end(row: Imported, at: datetime, outcome: Outcome) -> None:
    """Nobody follows it any more. WrongState unless it is running."""
    attempt = part_of(row).attempt
    if attempt.status != Status.RUNNING:
        raise WrongState(_("This import has ended already."))
    _write(attempt, status=Status.ENDED, outcome=outcome, ended_at=at)
    attempt.parts.update(finished_at=timezone.now())
    attempt.ranks.update(exit_code=0, exited_at=at)
    record(attempt, "ended", level="ok" if outcome == Outcome.SUCCEEDED else "warn", outcome=outcome)
    wake_ingest()


def end_silent(now: datetime) -> None:
    """Importers that were killed: their runs do not run for ever. Started again, they go on."""
    following = Imported.objects.filter(run__status=Status.RUNNING, heard_at__lt=now - SILENT)
    for row in following.select_related("run"):
        end(row, row.heard_at, Outcome.LOST)


def part_of(row: Imported) -> AttemptNode:
    """The one part of the one attempt."""
    return AttemptNode.objects.select_related("attempt__run").get(attempt__run=row.run_id)


def _made(project: Project, owner: User, asked: Asked) -> Imported:
    spec = RunSpec(attached=True, argv=[asked.kind]).model_dump(mode="json")
    run = Run.objects.create(project=project, owner=owner, name=asked.name[:120], spec=spec, world_size=1)
    at = asked.started_at or run.created_at
    Run.objects.filter(pk=run.pk).update(created_at=at)
    attempt = new_attempt(run, Status.ENDED, placed_at=at, created_at=at)
    AttemptNode.objects.create(
        attempt=attempt, node_uid=new_node_uid(), node_name=asked.kind, node_rank=0, launched_at=at
    )
    RankState.objects.create(attempt=attempt, rank=0, node_rank=0, local_rank=0, started_at=at)
    record(attempt, "imported", actor=owner.get_username(), source=asked.kind)
    return Imported.objects.create(run=run, project=project, kind=asked.kind, source=asked.source)


def _set_state(run: Run, asked: Asked) -> None:
    attempt = run.attempts.get()
    started = asked.started_at or attempt.started_at or attempt.created_at
    fields: dict[str, Any] = {"started_at": started, "status": Status.RUNNING, "outcome": "", "ended_at": None}
    finished = None
    if not asked.live:
        finished = asked.ended_at or started
        fields |= {"status": Status.ENDED, "outcome": asked.outcome, "ended_at": finished}
    _write(attempt, **fields)
    attempt.parts.update(finished_at=finished)
    attempt.ranks.update(exited_at=finished, exit_code=None if asked.live else 0)


def _write(attempt: Attempt, **fields: Any) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(compacted=False, **fields)
    mirror(attempt, fields)
    wake_ingest()
