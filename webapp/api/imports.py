"""`/imports`: runs that another tool has logged; see docs/imports.md. `paceline import` speaks it."""

from datetime import datetime
from typing import Annotated, Any, Literal

import redis
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Router, Schema
from pydantic import Field

from webapp.api.auth import person
from webapp.api.create import project_named
from webapp.api.errors import ApiError
from webapp.api.lookup import run_named
from webapp.api.schemas import Failure
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.imports import lifecycle
from webapp.imports.models import Imported
from webapp.projects.models import Role
from webapp.runs.models import Outcome

router = Router(tags=["imports"])
_ANSWERS = {403: Failure, 404: Failure, 422: Failure}
_Ending = Literal["succeeded", "failed", "stopped"]


class ImportIn(Schema):
    """One run of another tool. The same `source` again: the same run. `live`: it goes on and is followed."""

    project: str
    kind: Literal["tensorboard", "mlflow"]
    source: Annotated[str, Field(min_length=1, max_length=300)]
    name: Annotated[str, Field(min_length=1, max_length=500)]
    live: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: _Ending = "succeeded"
    config: Annotated[dict[str, str], Field(max_length=2_000)] = {}
    tags: Annotated[list[str], Field(max_length=50)] = []


class ImportOut(Schema):
    """`seq`: number of the last message that is stored; `cursor`: how far the importer had read then."""

    run: str
    url: str
    attempt: int
    node: str
    seq: int
    cursor: dict[str, Any]


class SeqOut(Schema):
    seq: int


class EndIn(Schema):
    """How the run that was followed has ended."""

    ended_at: datetime
    outcome: _Ending = "succeeded"


@router.post("", response={200: ImportOut, **_ANSWERS}, summary="Begin or go on with an import")
def begin(request: HttpRequest, asked: ImportIn) -> dict[str, Any]:
    """Then send its points to `/imports/{id}/batches`."""
    who = person(request)
    project = project_named(who, asked.project, Role.EDITOR)
    given = asked.model_dump(exclude={"project", "tags", "outcome"})
    row = lifecycle.begin(
        project, who, lifecycle.Asked(**given, outcome=Outcome(asked.outcome), tags=tuple(asked.tags))
    )
    note(request, Verb.IMPORTED, row.run, project)
    part = lifecycle.part_of(row)
    return {
        "run": row.run.uid,
        "url": settings.PUBLIC_URL.rstrip("/") + reverse("runs:detail", args=[row.run.uid]),
        "attempt": part.attempt_id,
        "node": part.node_uid,
        "seq": part.applied_seq,
        "cursor": row.cursor,
    }


@router.get("/{run_id}", response={200: SeqOut, **_ANSWERS}, summary="How much of an import is stored")
def state(request: HttpRequest, run_id: str) -> dict[str, int]:
    return {"seq": lifecycle.heard(_named(request, run_id))}


@router.post(
    "/{run_id}/batches",
    response={200: SeqOut, 503: Failure, **_ANSWERS},
    summary="Points of an import",
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}}},
)
def batches(request: HttpRequest, run_id: str) -> dict[str, int]:
    """One message of docs/wire.md as the body; it is stored when `seq` has come to its number."""
    try:
        return {"seq": lifecycle.take(_named(request, run_id), request.body)}
    except lifecycle.BadBatch as error:
        raise ApiError(422, _("This is no message of the import: %(error)s.") % {"error": error}) from error
    except redis.RedisError as error:
        raise ApiError(503, _("Redis is away; send it again in a moment.")) from error


@router.post("/{run_id}/end", response={200: SeqOut, 409: Failure, **_ANSWERS}, summary="End a run that was followed")
def end(request: HttpRequest, run_id: str, asked: EndIn) -> dict[str, int]:
    row = _named(request, run_id)
    lifecycle.end(row, asked.ended_at, Outcome(asked.outcome))
    return {"seq": lifecycle.heard(row)}


def _named(request: HttpRequest, run_id: str) -> Imported:
    run = run_named(request, run_id, Role.EDITOR)
    row = Imported.objects.filter(run=run).select_related("run").first()
    if row is None:
        raise ApiError(404, _("Run %(run)s was not imported.") % {"run": run_id})
    return row
