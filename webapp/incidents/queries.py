"""Reads of incidents: only those in the person's projects."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404

from webapp.accounts.models import User
from webapp.incidents.models import Autopsy, Incident
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.models import Run


def visible(user: User | AnonymousUser) -> QuerySet[Incident]:
    """Of runs that the person may see and nobody has deleted, newest first."""
    found = Incident.objects.filter(attempt__run__deleted_at=None)
    found = access.visible(found, user, "attempt__run__project")
    return found.select_related("attempt__run__project", "acknowledged_by", "assignee")


def incident_for(user: User | AnonymousUser, pk: int, role: Role) -> Incident:
    """One incident; Http404 for strangers, PermissionDenied for members whose role is too small."""
    found = visible(user).filter(pk=pk).first()
    if found is None:
        raise Http404
    access.require(user, found.attempt.run.project, role)
    return found


def autopsy_for(user: User | AnonymousUser, pk: int, role: Role) -> Autopsy:
    """One autopsy, under the same rules."""
    rows = access.visible(Autopsy.objects.filter(attempt__run__deleted_at=None), user, "attempt__run__project")
    found = rows.filter(pk=pk).select_related("attempt__run__project").first()
    if found is None:
        raise Http404
    access.require(user, found.attempt.run.project, role)
    return found


def of_run(run: Run) -> QuerySet[Incident]:
    """All incidents of a run's attempts, newest first."""
    return Incident.objects.filter(attempt__run=run).select_related("attempt__run", "acknowledged_by", "assignee")
