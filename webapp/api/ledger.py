"""`/runs/{id}/ledger`: what became of every step record of an attempt, and what the run's slot time went to."""

from typing import Any

from django.http import HttpRequest
from ninja import Router
from ninja.params.functions import Query

from webapp.api.lookup import attempt_named
from webapp.api.schemas import Failure, LedgerOut
from webapp.telemetry import slot_time
from webapp.telemetry.ledger import of_attempt

router = Router(tags=["runs"])


@router.get("/{run_id}/ledger", response={200: LedgerOut, 404: Failure}, summary="Steps made, sent, stored and dropped")
def ledger(request: HttpRequest, run_id: str, attempt: int | None = Query(None, ge=1)) -> dict[str, Any]:
    """`gaps` lists the steps that are not stored and why: the node's reason, or `pending` while they may still come."""
    found = attempt_named(request, run_id, attempt)
    return {**of_attempt(found), "hours": slot_time.of_run(found.run)}
