"""`/runs/{id}/artifacts`: files that belong to a run."""

from datetime import datetime
from typing import Annotated, Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from pydantic import BaseModel, ConfigDict, Field

from webapp.api.auth import person
from webapp.api.errors import ApiError, invalid
from webapp.api.lookup import run_named
from webapp.api.schemas import Failure
from webapp.artifacts import download, lifecycle
from webapp.artifacts.models import Artifact
from webapp.artifacts.names import Refused
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects.models import Role
from webapp.runs.models import Run

router = Router(tags=["artifacts"])
_REFUSALS = {403: Failure, 404: Failure, 422: Failure, 503: Failure}


class ArtifactOut(Schema):
    """One file. `kind` is kept, or path: then it lies at `path` on `node`."""

    name: str
    kind: str
    size: int = Field(description="bytes")
    sha256: str
    path: str
    node: str
    added_at: datetime
    added_by: str | None


class PathIn(BaseModel):
    """A file that stays where it is."""

    model_config = ConfigDict(extra="forbid")

    name: str
    path: str
    node: Annotated[str, Field(max_length=120)] = ""
    size: Annotated[int, Field(ge=0, lt=1 << 62)]
    sha256: str
    replace: bool = False


@router.get("/{run_id}/artifacts", response={200: list[ArtifactOut], 404: Failure}, summary="Files of a run")
def list_artifacts(request: HttpRequest, run_id: str) -> list[dict[str, Any]]:
    return [_shape(row) for row in run_named(request, run_id).artifacts.select_related("added_by")]


@router.post(
    "/{run_id}/artifacts",
    response={201: ArtifactOut, **_REFUSALS},
    summary="Upload a file",
    openapi_extra={"requestBody": {"content": {"multipart/form-data": {}}, "required": True}},
)
def add(request: HttpRequest, run_id: str, *, name: str = "", replace: bool = False) -> Status[dict[str, Any]]:
    """A form with the file in its field `file`. `name` if it is not the file's own; `replace` one of that name."""
    run = run_named(request, run_id, Role.EDITOR)
    sent = request.FILES.get("file")
    if sent is None:
        raise invalid({"file": _("Send the file in the form's field “file”.")})
    try:
        made = lifecycle.keep(run, name, sent, person(request), replace=replace)
    except Refused as refused:
        raise invalid({refused.field: str(refused)}) from None
    return _added(request, run, made)


@router.post("/{run_id}/artifacts/paths", response={201: ArtifactOut, **_REFUSALS}, summary="Note where a file lies")
def add_path(request: HttpRequest, run_id: str, asked: PathIn) -> Status[dict[str, Any]]:
    run = run_named(request, run_id, Role.EDITOR)
    try:
        made = lifecycle.note_path(run, who=person(request), **asked.model_dump())
    except Refused as refused:
        raise invalid({refused.field: str(refused)}) from None
    return _added(request, run, made)


@router.api_operation(["HEAD"], "/{run_id}/artifacts/{path:name}", include_in_schema=False)
@router.get(
    "/{run_id}/artifacts/{path:name}",
    response={200: None, 206: None, 404: Failure, 416: Failure, 503: Failure},
    summary="Download a file",
)
def read(request: HttpRequest, run_id: str, name: str) -> HttpResponseBase:
    """Whole, or the one `Range` of it that is asked for; `If-Range` with its `ETag` holds both to the same content."""
    artifact = _artifact(run_named(request, run_id), name)
    if not artifact.is_kept:
        told = {"name": artifact.name, "path": artifact.path, "node": artifact.node}
        raise ApiError(404, _("“%(name)s” is not kept here: it lies at %(path)s on %(node)s.") % told)
    return download.answer(request, artifact)


@router.delete(
    "/{run_id}/artifacts/{path:name}",
    response={204: None, 403: Failure, 404: Failure, 503: Failure},
    summary="Delete a file",
)
def delete(request: HttpRequest, run_id: str, name: str) -> Status[None]:
    """For good; a file that stays on its node stays."""
    run = run_named(request, run_id, Role.EDITOR)
    artifact = _artifact(run, name)
    lifecycle.remove(artifact)
    note(request, Verb.ARTIFACT_REMOVED, artifact, run.project, detail=run.uid)
    return Status(204, None)


def _added(request: HttpRequest, run: Run, made: Artifact) -> Status[dict[str, Any]]:
    note(request, Verb.ARTIFACT_ADDED, made, run.project, detail=run.uid)
    return Status(201, _shape(made))


def _artifact(run: Run, name: str) -> Artifact:
    found = run.artifacts.select_related("added_by").filter(name=name).first()
    if found is None:
        raise Http404
    return found


def _shape(row: Artifact) -> dict[str, Any]:
    same = ("name", "kind", "size", "sha256", "path", "node", "added_at")
    return {**{name: getattr(row, name) for name in same}, "added_by": row.added_by and row.added_by.username}
