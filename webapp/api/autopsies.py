"""`/runs/{id}/autopsy` and `/runs/{id}/autopsies`: ask what every rank is doing, and read what was found."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Router, Status

from webapp.api.auth import person
from webapp.api.errors import ApiError
from webapp.api.lookup import run_named
from webapp.api.schemas import AutopsyOut, Failure
from webapp.incidents import autopsy
from webapp.incidents.hang import words
from webapp.incidents.models import Autopsy
from webapp.projects.models import Role

router = Router(tags=["incidents"])
MOST, MOST_RANKS = 20, 100


@router.post(
    "/{run_id}/autopsy",
    response={202: AutopsyOut, 403: Failure, 404: Failure, 409: Failure},
    summary="Ask what every rank is doing",
)
def ask(request: HttpRequest, run_id: str) -> Status[dict[str, Any]]:
    """Answers at once; read `autopsies` until `complete`, a few seconds later."""
    run = run_named(request, run_id, Role.EDITOR)
    row = autopsy.ask_for(run, by=person(request).username)
    if row is None:
        raise ApiError(409, _("No rank of run %s lives: there is nobody to ask.") % run.uid)
    return Status(202, _shown(row))


@router.get("/{run_id}/autopsies", response={200: list[AutopsyOut], 404: Failure}, summary="What ranks were doing")
def autopsies(request: HttpRequest, run_id: str, first_rank: int = 0) -> list[dict[str, Any]]:
    """The newest ones first, each with the facts of 100 ranks from `first_rank` on."""
    rows = Autopsy.objects.filter(attempt__run=run_named(request, run_id)).select_related("attempt__run")[:MOST]
    return [_shown(row, first_rank) for row in rows]


def _shown(row: Autopsy, first_rank: int = 0) -> dict[str, Any]:
    found = autopsy.answers(row)
    complete = autopsy.is_complete(row, found, timezone.now())
    if complete and not row.verdict:
        autopsy.conclude(row, found)
    return {
        "id": row.pk,
        "run": row.attempt.run.uid,
        "attempt": row.attempt.number,
        "asked_at": row.asked_at,
        "asked_by": row.asked_by,
        "complete": complete,
        "sentence": words.head(row.verdict) if row.verdict else "",
        "answered": autopsy.who_answered(found),
        "verdict": row.verdict,
        "ranks": {str(rank): facts for rank, facts in autopsy.told(row, first_rank, MOST_RANKS).items()},
    }
