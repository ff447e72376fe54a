"""`/tokens`: your own API tokens, and `/projects/{slug}/tokens`: a project's. The secret is shown once."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import Router, Status

from webapp.accounts.models import ApiToken
from webapp.api.auth import ADMIN_AUTH, person
from webapp.api.create import project_named
from webapp.api.schemas import Failure, ServiceTokenIn, TokenIn, TokenMade, TokenOut
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects import service_tokens
from webapp.projects.models import Project, Role

router = Router(tags=["tokens"])
of_project = Router(tags=["tokens"])


@router.get("", response=list[TokenOut], summary="Your tokens")
def list_tokens(request: HttpRequest) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=person(request)).order_by("-created_at", "-pk")


@router.post("", response={201: TokenMade, 403: Failure}, summary="Make a token", auth=ADMIN_AUTH)
def create_token(request: HttpRequest, asked: TokenIn) -> Status[dict[str, Any]]:
    token, secret = ApiToken.issue(person(request), asked.name, scope=asked.scope, expires_at=_end(asked.days))
    note(request, Verb.TOKEN_MADE, token, detail=token.scope)
    return _made(token, secret)


@router.delete("/{token_id}", response={204: None, 403: Failure}, summary="Revoke a token", auth=ADMIN_AUTH)
def revoke_token(request: HttpRequest, token_id: int) -> Status[None]:
    token = ApiToken.objects.filter(user=person(request), pk=token_id).first()
    if token is None:
        raise Http404
    if token.project is None:
        token.delete()
    else:
        service_tokens.revoke(token)
    note(request, Verb.TOKEN_REVOKED, token, token.project)
    return Status(204, None)


@of_project.get("/{slug}/tokens", response={200: list[TokenOut], 403: Failure, 404: Failure}, summary="Its tokens")
def list_service_tokens(request: HttpRequest, slug: str) -> QuerySet[ApiToken]:
    """For admins of the project."""
    return service_tokens.of_project(_project(request, slug))


@of_project.post(
    "/{slug}/tokens",
    response={201: TokenMade, 403: Failure, 404: Failure},
    summary="Make a token of the project",
    auth=ADMIN_AUTH,
)
def create_service_token(request: HttpRequest, slug: str, asked: ServiceTokenIn) -> Status[dict[str, Any]]:
    """It acts for nobody in particular, with one role in this project and nowhere else."""
    project = _project(request, slug)
    token, secret = service_tokens.make(project, asked.name, Role(asked.role), _end(asked.days))
    note(request, Verb.TOKEN_MADE, token, project, detail=asked.role)
    return _made(token, secret)


@of_project.delete(
    "/{slug}/tokens/{token_id}",
    response={204: None, 403: Failure, 404: Failure},
    summary="Revoke a token of the project",
    auth=ADMIN_AUTH,
)
def revoke_service_token(request: HttpRequest, slug: str, token_id: int) -> Status[None]:
    project = _project(request, slug)
    token = service_tokens.of_project(project).filter(pk=token_id).first()
    if token is None:
        raise Http404
    service_tokens.revoke(token)
    note(request, Verb.TOKEN_REVOKED, token, project)
    return Status(204, None)


def _project(request: HttpRequest, slug: str) -> Project:
    return project_named(person(request), slug, Role.ADMIN)


def _made(token: ApiToken, secret: str) -> Status[dict[str, Any]]:
    return Status(201, {**TokenOut.from_orm(token).dict(), "token": secret})


def _end(days: int | None) -> datetime | None:
    return timezone.now() + timedelta(days=days) if days else None
