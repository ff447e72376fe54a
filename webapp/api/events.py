"""`/runs/{id}/events`: the run's own log."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from webapp.api.lookup import run_named
from webapp.api.schemas import EventOut, Failure
from webapp.runs.wording import event_text

router = Router(tags=["runs"])


@router.get("/{run_id}/events", response={200: list[EventOut], 404: Failure}, summary="What happened to a run")
def events(request: HttpRequest, run_id: str) -> list[dict[str, Any]]:
    """Oldest first."""
    found = run_named(request, run_id).events.select_related("attempt").order_by("pk")
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
        for event in found
    ]
