"""`/runs/{id}/incidents`: what the detectors found. No detector runs yet, so no run has one."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from webapp.api.lookup import run_named
from webapp.api.schemas import Failure

router = Router(tags=["incidents"])


@router.get("/{run_id}/incidents", response={200: list[dict[str, Any]], 404: Failure}, summary="Incidents of a run")
def incidents(request: HttpRequest, run_id: str) -> list[dict[str, Any]]:
    run_named(request, run_id)
    return []
