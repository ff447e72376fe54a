"""The one place that says who may see or do what. Strangers get 404, members without the right 403."""

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404

from webapp.accounts.models import User
from webapp.projects.models import Membership, Project, Role

M = TypeVar("M", bound=Model)
_RANK = {Role.VIEWER: 0, Role.EDITOR: 1, Role.ADMIN: 2}


def role_in(user: User | AnonymousUser, project: Project) -> Role | None:
    """The person's role, None for a stranger. A superuser is admin everywhere."""
    if not user.is_authenticated or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    found = Membership.objects.filter(user=user, project=project).values_list("role", flat=True).first()
    return Role(found) if found else None


def require(user: User | AnonymousUser, project: Project, role: Role) -> None:
    """Http404 for a stranger, PermissionDenied for a member whose role is too small."""
    has = role_in(user, project)
    if has is None:
        raise Http404
    if _RANK[has] < _RANK[role]:
        raise PermissionDenied(f"this needs the role {role.value} in project {project.slug}")


def require_site_admin(user: User | AnonymousUser) -> None:
    """PermissionDenied unless the person may change what all projects share, such as nodes."""
    if not (user.is_authenticated and user.is_active and user.is_superuser):
        raise PermissionDenied("only an administrator of the site may change nodes")


def allows(user: User | AnonymousUser, project: Project, role: Role) -> bool:
    """Whether `require` would let the person pass."""
    has = role_in(user, project)
    return has is not None and _RANK[has] >= _RANK[role]


def projects_where(user: User | AnonymousUser, role: Role) -> QuerySet[Project]:
    """Projects in which the person has at least `role`."""
    if not user.is_authenticated or not user.is_active:
        return Project.objects.none()
    if user.is_superuser:
        return Project.objects.all()
    enough = [r for r, rank in _RANK.items() if rank >= _RANK[role]]
    return Project.objects.filter(memberships__user=user, memberships__role__in=enough)


def visible(queryset: QuerySet[M], user: User | AnonymousUser, path: str = "project") -> QuerySet[M]:
    """Only the rows whose project (at `path`) the person is a member of."""
    if not user.is_authenticated or not user.is_active:
        return queryset.none()
    if user.is_superuser:
        return queryset
    return queryset.filter(**{f"{path}__in": Membership.objects.filter(user=user).values("project")})
