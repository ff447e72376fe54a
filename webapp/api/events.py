"""`/runs/{id}/events`: the run's own log."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from webapp.api.lookup import run_named
from webapp.api.schemas import EventOut, Failure
from webapp.runs.models import Run
from webapp.runs.wording import event_text

router = Router(tags=["runs"])


@router.get("/{run_id}/events", response={200: list[EventOut], 404: Failure}, summary="What happened to a run")
def events(request: HttpRequest, run_id: str) -> list[dict[str, Any]]:
    """Oldest first."""
    return of_run(run_named(request, run_id))


def of_run(run: Run) -> list[dict[str, Any]]:
    """Its events as the API tells them, oldest first."""
    return [
        {
            "at": event.at,
            "attempt": event.attempt.number if event.attempt else None,
            "kind": event.kind,
            "level": event.level,
            "actor": event.actor,
            "rank": event.rank,
            "text": event_text(event),
            "data": event.data,
        }
        for event in run.events.select_related("attempt").order_by("pk")
    ]
