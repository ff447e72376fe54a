"""`/runs/{id}/notes` and `/runs/{id}/comments`: what people write about a run, in Markdown."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from webapp.api.auth import person
from webapp.api.errors import ApiError
from webapp.api.lookup import run_named
from webapp.api.schemas import Failure
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.notes import lifecycle, queries
from webapp.notes.models import LONGEST_COMMENT, LONGEST_NOTE, Comment, Note
from webapp.projects.models import Role

router = Router(tags=["notes"])
_Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_COMMENT)]


class NotesIn(BaseModel):
    """New notes, in place of what is there."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=LONGEST_NOTE, description="Markdown")
    version: int | None = Field(None, ge=0, description="the version that you read; 409 when it is not the newest")


class NotesOut(Schema):
    """The notes of a run."""

    text: str
    version: int = Field(description="0: nobody has written any")
    changed_at: datetime | None
    changed_by: str | None


class SaidIn(BaseModel):
    """A comment. `@name` tells that member of the project."""

    model_config = ConfigDict(extra="forbid")

    text: _Said


class SaidOut(Schema):
    """A comment on a run."""

    id: int
    author: str
    text: str
    created_at: datetime
    edited_at: datetime | None
    mentions: list[str]


@router.get("/{run_id}/notes", response={200: NotesOut, 404: Failure}, summary="Notes of a run")
def notes(request: HttpRequest, run_id: str) -> dict[str, Any]:
    return _notes(Note.objects.filter(run=run_named(request, run_id)).select_related("changed_by").first())


@router.put("/{run_id}/notes", response={200: NotesOut, 403: Failure, 404: Failure, 409: Failure}, summary="Write them")
def write(request: HttpRequest, run_id: str, wanted: NotesIn) -> dict[str, Any]:
    """What the notes said before is kept as an earlier version."""
    run = run_named(request, run_id, Role.EDITOR)
    try:
        row = lifecycle.write_note(run, person(request), wanted.text, base=wanted.version)
    except lifecycle.ChangedMeanwhile:
        raise ApiError(409, _("The notes have changed meanwhile. Read them again.")) from None
    note(request, Verb.CHANGED, run, run.project, detail="notes")
    return _notes(row)


@router.get("/{run_id}/comments", response={200: list[SaidOut], 404: Failure}, summary="Comments on a run")
def comments(request: HttpRequest, run_id: str) -> list[dict[str, Any]]:
    """Oldest first."""
    return [_said(row) for row in run_named(request, run_id).comments.prefetch_related("mentions__user")]


@router.post("/{run_id}/comments", response={201: SaidOut, 403: Failure, 404: Failure}, summary="Comment on a run")
def comment(request: HttpRequest, run_id: str, said: SaidIn) -> Status[Any]:
    return Status(201, _said(lifecycle.comment(run_named(request, run_id, Role.EDITOR), person(request), said.text)))


@router.patch("/{run_id}/comments/{int:pk}", response={200: SaidOut, 404: Failure}, summary="Change your comment")
def edit(request: HttpRequest, run_id: str, pk: int, said: SaidIn) -> dict[str, Any]:
    row = queries.own_comment(run_named(request, run_id), pk, person(request))
    lifecycle.edit(row, said.text)
    return _said(row)


@router.delete("/{run_id}/comments/{int:pk}", response={204: None, 403: Failure, 404: Failure}, summary="Delete one")
def delete(request: HttpRequest, run_id: str, pk: int) -> Status[Any]:
    """Your own; an admin any."""
    row = queries.comment_of(run_named(request, run_id), pk)
    if not queries.may_delete(row, person(request)):
        raise ApiError(403, _("Only who wrote a comment and admins may delete it."))
    lifecycle.delete(row)
    return Status(204, None)


def _notes(row: Note | None) -> dict[str, Any]:
    if row is None:
        return {"text": "", "version": 0, "changed_at": None, "changed_by": None}
    by = row.changed_by.username if row.changed_by else None
    return {"text": row.text, "version": row.version, "changed_at": row.changed_at, "changed_by": by}


def _said(row: Comment) -> dict[str, Any]:
    names = sorted(one.user.username for one in row.mentions.all())
    times = {"created_at": row.created_at, "edited_at": row.edited_at}
    return {"id": row.pk, "author": row.author_name, "text": row.text, "mentions": names, **times}
