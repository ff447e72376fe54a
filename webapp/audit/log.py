"""The only writer of the audit log. Called where a request has just changed something, never with a secret."""

from datetime import datetime, timedelta

from django.conf import settings
from django.http import HttpRequest

from webapp.accounts.models import ApiToken, User
from webapp.audit.models import Entry, Verb
from webapp.projects.models import Project

KEPT = timedelta(days=400)
_BITE = 500  # rows per transaction, so that nobody waits long for the write lock


def note(
    request: HttpRequest,
    verb: Verb,
    target: object = "",
    project: Project | None = None,
    *,
    detail: str = "",
    who: User | None = None,
    name: str = "",
) -> None:
    """Add one row. The person of the request did it, unless `who` or, for nobody with an account, `name` says."""
    person = who or _person(request)
    token: ApiToken | None = getattr(request, "api_token", None)
    Entry.objects.create(
        actor=person,
        actor_name=person.get_username() if person else name[:150],
        token_name=token.name if token else "",
        verb=verb,
        target=str(target)[:200],
        detail=detail[:200],
        project=project,
        address=client_address(request),
    )


def client_address(request: HttpRequest) -> str:
    """Where the request came from; behind a proxy, what the proxy saw."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.BEHIND_PROXY else ""
    return (forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", ""))[:45]


def forget_old(now: datetime) -> int:
    """Remove a bite of what is older than `KEPT`; the number of rows removed."""
    old = list(Entry.objects.filter(at__lt=now - KEPT).order_by("pk").values_list("pk", flat=True)[:_BITE])
    return Entry.objects.filter(pk__in=old).delete()[0] if old else 0


def _person(request: HttpRequest) -> User | None:
    for found in (getattr(request, "auth", None), getattr(request, "user", None)):
        if isinstance(found, User):
            return found
    return None
