"""`/runs/{id}/links`: read-only links to a run for people without an account."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema, Status
from pydantic import BaseModel, ConfigDict, Field

from webapp.api.auth import person
from webapp.api.lookup import run_named
from webapp.api.schemas import Failure
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects.models import Role
from webapp.sharing import lifecycle, words
from webapp.sharing.forms import only_view
from webapp.sharing.models import LONGEST_VIEW, ShareLink

router = Router(tags=["share links"])
_ANSWERS = {403: Failure, 404: Failure}


class LinkIn(BaseModel):
    """What a new link shows, and for how long."""

    model_config = ConfigDict(extra="forbid")

    days: int | None = Field(7, ge=1, le=3650, description="null: as long as the run is kept")
    with_logs: bool = Field(False, description="show logs and tracebacks too")
    view: str = Field("", max_length=LONGEST_VIEW, description="`?query#tab` of the run's page")


class LinkOut(Schema):
    """One link; its secret is kept by nobody. `hint`: how it begins."""

    id: int
    hint: str
    view: str
    with_logs: bool
    created_by: str | None
    created_at: datetime
    expires_at: datetime | None
    opened: int = Field(description="how often")
    opened_at: datetime | None = Field(description="the last time")


class LinkMade(LinkOut):
    url: str = Field(description="what is handed on; shown this once")


@router.get("/{run_id}/links", response={200: list[LinkOut], **_ANSWERS}, summary="Links to a run")
def links(request: HttpRequest, run_id: str) -> list[dict[str, Any]]:
    """Those that were not taken back, newest first; editors see them."""
    run = run_named(request, run_id, Role.EDITOR)
    return [_shown(row) for row in run.share_links.filter(revoked_at=None).select_related("created_by")]


@router.post("/{run_id}/links", response={201: LinkMade, **_ANSWERS, 422: Failure}, summary="Share a run by link")
def make(request: HttpRequest, run_id: str, asked: LinkIn) -> Status[dict[str, Any]]:
    """Whoever has the link reads this one run, without an account."""
    run = run_named(request, run_id, Role.EDITOR)
    view = only_view(asked.view)
    row, secret = lifecycle.make(run, person(request), view=view, days=asked.days, with_logs=asked.with_logs)
    note(request, Verb.SHARED, run, run.project, detail=words.audited(row))
    return Status(201, {**_shown(row), "url": words.address_of(row, secret)})


@router.delete("/{run_id}/links/{int:link}", response={204: None, **_ANSWERS}, summary="Take a link back")
def revoke(request: HttpRequest, run_id: str, link: int) -> Status[None]:
    """It opens nothing from now on. Taking it back twice is no error."""
    run = run_named(request, run_id, Role.EDITOR)
    row = run.share_links.filter(pk=link).first()
    if row is None:
        raise Http404
    if lifecycle.revoke(row):
        note(request, Verb.UNSHARED, run, run.project, detail=f"{row.hint}…")
    return Status(204, None)


def _shown(row: ShareLink) -> dict[str, Any]:
    plain = ("hint", "view", "with_logs", "created_at", "expires_at", "opened", "opened_at")
    by = row.created_by.username if row.created_by else None
    return {"id": row.pk, "created_by": by, **{name: getattr(row, name) for name in plain}}
