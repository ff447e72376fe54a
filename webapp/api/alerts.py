"""`/projects/{slug}/alerts`: what fires now."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from webapp.alerts import queries
from webapp.alerts.outgoing.message import shown
from webapp.api.auth import person
from webapp.api.schemas import AlertOut, Failure
from webapp.projects.models import Role

router = Router(tags=["projects"])


@router.get("/{slug}/alerts", response={200: list[AlertOut], 404: Failure}, summary="Open alerts of a project")
def open_alerts(request: HttpRequest, slug: str) -> list[dict[str, Any]]:
    """Newest first. `told_at` null: nobody was told yet, because of the silence whose reason `silenced` is."""
    project = queries.project_for(person(request), slug, Role.VIEWER)
    return [shown(alert) for alert in queries.of_project(project).filter(closed_at=None)]
