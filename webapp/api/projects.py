"""`/projects`: the projects that you are in, with your role."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from webapp.api.auth import person
from webapp.api.schemas import ProjectOut
from webapp.projects.access import role_in, visible
from webapp.projects.models import Project

router = Router(tags=["projects"])


@router.get("", response=list[ProjectOut], summary="Your projects")
def list_projects(request: HttpRequest) -> list[dict[str, Any]]:
    who = person(request)
    return [
        {"slug": row.slug, "name": row.name, "role": role_in(who, row), "created_at": row.created_at}
        for row in visible(Project.objects.all(), who, "pk")
    ]
