"""`/runs/{id}/exports` and `/exports/{id}`: a run as one file, made in the background."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from pydantic import Field

from webapp.api.auth import person
from webapp.api.errors import ApiError
from webapp.api.lookup import run_named
from webapp.api.schemas import Failure
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.exports import lifecycle, queries, words
from webapp.exports.fetch import fetched
from webapp.exports.models import Export, State

of_run = Router(tags=["exports"])
router = Router(tags=["exports"])


class ExportIn(Schema):
    """What goes into the file, beside run.json, events, incidents and the ledger."""

    kinds: Annotated[list[Literal["parquet", "csv", "json", "logs"]], Field(min_length=1)] = ["parquet", "logs"]


class ExportOut(Schema):
    """`state`: queued, working, done, failed or expired. `progress`: 0 to 1. `url`: of the file, once it is done."""

    id: str
    run: str
    kinds: list[str]
    state: str
    progress: float
    size: int
    created_at: datetime
    expires_at: datetime | None
    sentence: str
    url: str | None


@of_run.post(
    "/{run_id}/exports", response={201: ExportOut, 404: Failure, 409: Failure, 422: Failure}, summary="Export a run"
)
def create(request: HttpRequest, run_id: str, asked: ExportIn) -> Status[dict[str, Any]]:
    """It begins within seconds; ask `/exports/{id}` how far it is."""
    run = run_named(request, run_id)
    try:
        made = lifecycle.start(run, person(request), list(dict.fromkeys(asked.kinds)))
    except lifecycle.TooMany:
        raise ApiError(409, _("Wait until one of your other exports is ready.")) from None
    note(request, Verb.EXPORTED, run, run.project)
    return Status(201, _shape(made))


@of_run.get("/{run_id}/exports", response={200: list[ExportOut], 404: Failure}, summary="Exports of a run")
def exports(request: HttpRequest, run_id: str) -> list[dict[str, Any]]:
    """Newest first."""
    return [_shape(row) for row in queries.of_run(run_named(request, run_id))[: queries.SHOWN]]


@router.get("/{export}", response={200: ExportOut, 404: Failure}, summary="How far an export is")
def read(request: HttpRequest, export: str) -> dict[str, Any]:
    return _shape(queries.export_for(person(request), export))


@router.api_operation(["HEAD"], "/{export}/file", include_in_schema=False)
@router.get(
    "/{export}/file",
    response={200: bytes, 206: bytes, 404: Failure, 416: Failure},
    summary="The file of an export",
    openapi_extra={"responses": {code: {"content": {"application/zip": {}}} for code in (200, 206)}},
)
def file(request: HttpRequest, export: str) -> HttpResponseBase:
    """A .zip, whole or the one `Range` of it that is asked for; 404 until it is done, and once it has expired."""
    return fetched(request, queries.export_for(person(request), export))


def _shape(row: Export) -> dict[str, Any]:
    ready = row.state == State.DONE and not words.is_over(row)
    path = reverse("api:file", args=[row.uid])
    return {
        "id": row.uid,
        "run": row.run.uid,
        **{name: getattr(row, name) for name in ("kinds", "progress", "size", "created_at", "expires_at")},
        "state": State.EXPIRED.value if row.state == State.DONE and not ready else row.state,
        "sentence": words.sentence(row),
        "url": settings.PUBLIC_URL.rstrip("/") + path if ready else None,
    }
