"""Reads of runs for pages and API: how many there are, and one that a person may see. `history/` finds them."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, QuerySet
from django.http import Http404

from webapp.accounts.models import User
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.models import Run
from webapp.runs.status_words import STATUS_WORDS


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
