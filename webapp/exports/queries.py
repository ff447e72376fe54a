"""Reads of exports. Whoever sees the run sees its exports and may fetch them."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404

from webapp.accounts.models import User
from webapp.exports.models import Export
from webapp.projects.access import visible
from webapp.runs.models import Run

SHOWN = 20


def of_run(run: Run) -> QuerySet[Export]:
    """Newest first, without their plans."""
    return run.exports.defer("plan").select_related("owner")


def export_for(user: User | AnonymousUser, uid: str) -> Export:
    """Http404 for who may not see its run, and for a deleted run."""
    found = visible(Export.objects.defer("plan"), user, "run__project").filter(uid=uid, run__deleted_at=None)
    row = found.select_related("run__project", "owner").first()
    if row is None:
        raise Http404
    return row
