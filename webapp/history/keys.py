"""Names of metrics and settings, a page at a time: there may be many thousands, so nobody gets them all."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from webapp.accounts.models import User
from webapp.history.models import Key, Kind
from webapp.history.numbered import Numbered
from webapp.projects import access

MOST = 50


def named_like(user: User | AnonymousUser, part: str, project: str = "", kind: str = "") -> tuple[list[Numbered], int]:
    """Up to MOST names with this text in them, those that start with it first, and how many there are."""
    rows = _rows(user, project, kind)
    within = rows.filter(name__icontains=part) if part else rows
    total = within.count()
    first = list(within.filter(name__istartswith=part).order_by("name", "kind")[:MOST])
    rest = within.exclude(name__istartswith=part).order_by("name", "kind") if part else within.none()
    found = first + list(rest[: MOST - len(first)])
    return [Numbered(Kind(k), name, "last" if k == Kind.METRIC else "") for k, name in found], total


def _rows(user: User | AnonymousUser, project: str, kind: str) -> QuerySet[Key, tuple[str, str]]:
    rows = access.visible(Key.objects.all(), user)
    if project:
        rows = rows.filter(project__slug=project)
    if kind:
        rows = rows.filter(kind=kind)
    return rows.values_list("kind", "name").distinct()
