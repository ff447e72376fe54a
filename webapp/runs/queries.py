"""Reads of runs for pages and API: what a person may see, searched and paged."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404

from webapp.accounts.models import User
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.models import AttemptNode, Outcome, Run, Status

PAGE_SIZE = 30
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# The words of the status chips; the words of the database are understood too.
STATUS_WORDS: dict[str, Q] = {
    "queued": Q(status=Status.QUEUED),
    "running": Q(status__in=[Status.STARTING, Status.RUNNING, Status.STOPPING]),
    "finished": Q(status=Status.ENDED, outcome=Outcome.SUCCEEDED),
    "failed": Q(status=Status.ENDED, outcome__in=[Outcome.FAILED, Outcome.LOST]),
    "stopped": Q(status=Status.ENDED, outcome=Outcome.STOPPED),
    "starting": Q(status=Status.STARTING),
    "stopping": Q(status=Status.STOPPING),
    "ended": Q(status=Status.ENDED),
    "succeeded": Q(outcome=Outcome.SUCCEEDED),
    "lost": Q(outcome=Outcome.LOST),
}


@dataclass(frozen=True)
class Page:
    """One page of runs, newest first. `newer` and `older` are cursors, empty where there is nothing."""

    rows: list[Run]
    newer: str
    older: str
    total: int


def search(
    user: User | AnonymousUser, text: str = "", status: str = "", project: str = "", owner: str = ""
) -> QuerySet[Run]:
    """Runs that the person may see and that were not deleted, newest first.

    Every word of `text` must be in the name, id, project, owner or a node's name; `status:failed`, `project:demo`,
    `owner:ana` and `node:gpu-a` ask for one of them. An unknown status finds nothing.
    """
    runs = access.visible(Run.objects.filter(deleted_at=None), user).select_related("project", "owner")
    for word in text.split():
        runs = runs.filter(_meaning(word))
    for key, value in (("status", status), ("project", project), ("owner", owner)):
        if value:
            runs = runs.filter(_KEYS[key](value))
    return runs.order_by("-created_at", "-pk")


def page(queryset: QuerySet[Run], cursor: str = "", size: int = PAGE_SIZE) -> Page:
    """The page at a cursor; the first page for an empty or unreadable one. Cost does not grow with depth."""
    towards, at, pk = _read(cursor)
    ordered = queryset.order_by("-created_at", "-pk")
    if towards == "newer":
        found = list(queryset.filter(_after(at, pk)).order_by("created_at", "pk")[: size + 1])
        rows, more = found[:size][::-1], len(found) > size
        has_newer, has_older = more, True
    else:
        found = list((ordered.filter(_before(at, pk)) if towards else ordered)[: size + 1])
        rows, more = found[:size], len(found) > size
        has_newer, has_older = bool(towards), more
    newer = _cursor("newer", rows[0]) if rows and has_newer else ""
    older = _cursor("older", rows[-1]) if rows and has_older else ""
    return Page(rows, newer, older, queryset.count())


def counts(queryset: QuerySet[Run], user: User) -> dict[str, int]:
    """How many runs each status chip would show, and `all`, and `mine`, in one query."""
    chips = ("queued", "running", "finished", "failed", "stopped")
    found: dict[str, int] = queryset.order_by().aggregate(
        all=Count("pk"),
        mine=Count("pk", filter=Q(owner=user)),
        **{w: Count("pk", filter=STATUS_WORDS[w]) for w in chips},
    )
    return found


def run_for(user: User | AnonymousUser, uid: str, role: Role) -> Run:
    """The run, if the person has `role` in its project: Http404 for strangers, PermissionDenied for a smaller role."""
    run = Run.objects.select_related("project", "owner").filter(uid=uid, deleted_at=None).first()
    if run is None:
        raise Http404
    access.require(user, run.project, role)
    return run


def _meaning(word: str) -> Q:
    key, colon, value = word.partition(":")
    if colon and value and key in _KEYS:
        return _KEYS[key](value)
    places = ("name", "uid", "project__slug", "project__name", "owner__username")
    anywhere = Q(*[(f"{place}__icontains", word) for place in places], _connector=Q.OR)
    return anywhere | _on_node(word)


def _on_node(name: str) -> Q:
    parts = AttemptNode.objects.filter(attempt__run=OuterRef("pk"), node_name__icontains=name)
    return Q(Exists(parts))


_KEYS: dict[str, Callable[[str], Q]] = {
    "status": lambda value: STATUS_WORDS.get(value, Q(pk__in=[])),
    "project": lambda value: Q(project__slug=value),
    "owner": lambda value: Q(owner__username=value),
    "node": _on_node,
}


def _cursor(towards: str, run: Run) -> str:
    micros = (run.created_at - _EPOCH) // timedelta(microseconds=1)
    return f"{towards}.{micros}.{run.pk}"


def _read(cursor: str) -> tuple[str, datetime, int]:
    towards, _dot, rest = cursor.partition(".")
    micros, _dot, pk = rest.partition(".")
    if towards not in ("newer", "older") or not micros.isdecimal() or not pk.isdecimal() or len(pk) > 18:
        return "", _EPOCH, 0
    try:
        return towards, _EPOCH + timedelta(microseconds=int(micros)), int(pk)
    except OverflowError:
        return "", _EPOCH, 0


def _before(at: datetime, pk: int) -> Q:
    return Q(created_at__lt=at) | Q(created_at=at, pk__lt=pk)


def _after(at: datetime, pk: int) -> Q:
    return Q(created_at__gt=at) | Q(created_at=at, pk__gt=pk)
