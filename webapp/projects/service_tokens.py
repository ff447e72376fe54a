"""Tokens that belong to a project and not to a person: each acts as a service account with one role there."""

import secrets
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from webapp.accounts.models import ApiToken, User
from webapp.accounts.scopes import Scope
from webapp.projects.models import Membership, Project, Role

_SCOPE = {Role.VIEWER: Scope.READ, Role.EDITOR: Scope.WRITE, Role.ADMIN: Scope.ADMIN}


def of_project(project: Project) -> QuerySet[ApiToken]:
    """The project's tokens, newest first."""
    return ApiToken.objects.filter(project=project).select_related("user").order_by("-created_at", "-pk")


@transaction.atomic
def make(project: Project, name: str, role: Role, expires_at: datetime | None) -> tuple[ApiToken, str]:
    """A new token with its account; the second value is the secret and is shown once."""
    account = User(username=f"{project.slug}-service-{secrets.token_hex(3)}", first_name=name[:150], is_service=True)
    account.set_unusable_password()
    account.save()
    Membership.objects.create(project=project, user=account, role=role)
    return ApiToken.issue(account, name, scope=_SCOPE[role], project=project, expires_at=expires_at)


@transaction.atomic
def revoke(token: ApiToken) -> None:
    """The account stays as the owner of what it launched, without any right."""
    Membership.objects.filter(user=token.user).delete()
    User.objects.filter(pk=token.user_id, is_service=True).update(is_active=False)
    token.delete()


def role_of(token: ApiToken) -> str:
    """The role of a project's token, in words."""
    return str({scope: role for role, scope in _SCOPE.items()}[Scope(token.scope)].label)
