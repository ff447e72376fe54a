"""`/runs/{id}/incidents` and `/incidents/{id}`: what was found wrong with a run, and what people say to it."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Router

from webapp.api.auth import person
from webapp.api.errors import ApiError
from webapp.api.incident_schemas import AssignIn, CauseIn, CommentIn, IncidentOut
from webapp.api.lookup import run_named
from webapp.api.schemas import Failure
from webapp.audit.models import Verb
from webapp.incidents import lifecycle, queries, words
from webapp.incidents.audited import note_act
from webapp.incidents.lineup import victims_of
from webapp.incidents.models import Incident
from webapp.projects.access import role_in
from webapp.projects.models import Role

of_run = Router(tags=["incidents"])
router = Router(tags=["incidents"])
# Scripts know ten kinds. Ranks that train beside each other are a matter of how the job is put together.
_KIND = {"alone": "structural", "overlap": "regression"}
_ANSWERS = {200: IncidentOut, 403: Failure, 404: Failure}


@of_run.get("/{run_id}/incidents", response={200: list[IncidentOut], 404: Failure}, summary="Incidents of a run")
def incidents(request: HttpRequest, run_id: str) -> list[dict[str, Any]]:
    return _shown(queries.of_run(run_named(request, run_id)))


@router.get("/{int:pk}", response=_ANSWERS, summary="One incident")
def show(request: HttpRequest, pk: int) -> dict[str, Any]:
    return shown(queries.incident_for(person(request), pk, Role.VIEWER))


@router.post("/{int:pk}/acknowledge", response=_ANSWERS, summary="Say that you have seen it")
def acknowledge(request: HttpRequest, pk: int) -> dict[str, Any]:
    """Saying it twice is no error: the first to say so stays."""
    row = _of_editor(request, pk)
    if lifecycle.acknowledge(row, person(request), timezone.now()):
        note_act(request, Verb.INCIDENT_SEEN, row)
    return show(request, pk)


@router.post("/{int:pk}/close", response=_ANSWERS, summary="Say that it is over")
def close(request: HttpRequest, pk: int) -> dict[str, Any]:
    row = _of_editor(request, pk)
    if lifecycle.close(row, person(request), timezone.now()):
        note_act(request, Verb.INCIDENT_CLOSED, row)
    return show(request, pk)


@router.post("/{int:pk}/cause", response={**_ANSWERS, 422: Failure}, summary="Say what the cause is")
def confirm(request: HttpRequest, pk: int, found: CauseIn) -> dict[str, Any]:
    """No detector says otherwise after that."""
    row = _of_editor(request, pk)
    lifecycle.confirm(row, person(request), found.cause, timezone.now())
    note_act(request, Verb.INCIDENT_CAUSE, row, detail=found.cause)
    return show(request, pk)


@router.post("/{int:pk}/comment", response={**_ANSWERS, 422: Failure}, summary="Say something about it")
def comment(request: HttpRequest, pk: int, said: CommentIn) -> dict[str, Any]:
    row = _of_editor(request, pk)
    lifecycle.comment(row, person(request), said.text, timezone.now())
    note_act(request, Verb.INCIDENT_COMMENTED, row)
    return show(request, pk)


@router.post("/{int:pk}/assign", response={**_ANSWERS, 422: Failure}, summary="Give it to somebody, or to nobody")
def assign(request: HttpRequest, pk: int, wanted: AssignIn) -> dict[str, Any]:
    row = _of_editor(request, pk)
    members = row.attempt.run.project.members
    to = members.filter(username=wanted.username).first() if wanted.username else None
    if to is None and wanted.username:
        me = person(request)
        to = me if me.username == wanted.username and role_in(me, row.attempt.run.project) else None
    if to is None and wanted.username:
        raise ApiError(422, _("Nobody of the name %s is a member of the project.") % wanted.username)
    lifecycle.assign(row, person(request), to, timezone.now())
    note_act(request, Verb.INCIDENT_ASSIGNED, row, detail=to.username if to else "")
    return show(request, pk)


def shown(row: Incident) -> dict[str, Any]:
    """One incident as the API tells it."""
    names = dict(row.attempt.parts.values_list("node_rank", "node_name"))
    return {
        "id": row.pk,
        "run": row.attempt.run.uid,
        "attempt": row.attempt.number,
        "kind": _KIND.get(row.kind, row.kind),
        "subject": row.subject,
        "rank": row.rank,
        "node": None if row.node_rank is None else names.get(row.node_rank),
        "link": [names.get(end, str(end)) for end in row.link] if row.link else None,
        "cause": row.cause,
        "probable": row.probable,
        "confirmed_by": row.cause_by or None,
        "severity": row.severity,
        "slowdown": row.slowdown,
        "gpu_hours": row.gpu_hours,
        "opened_step": row.opened_step,
        "opened_at": row.opened_at,
        "closed_at": row.closed_at,
        "sentence": words.sentence(row),
        "next_step": words.next_step(row),
        "evidence": row.evidence,
        "victims": victims_of(row),
        "acknowledged_by": row.acknowledged_by.username if row.acknowledged_by else None,
        "assignee": row.assignee.username if row.assignee else None,
        "events": [
            {"at": event.at, "kind": event.kind, "actor": event.actor, "text": event.text} for event in row.events.all()
        ],
    }


def _shown(rows: QuerySet[Incident]) -> list[dict[str, Any]]:
    return [shown(row) for row in rows.prefetch_related("events")]


def _of_editor(request: HttpRequest, pk: int) -> Incident:
    return queries.incident_for(person(request), pk, Role.EDITOR)
