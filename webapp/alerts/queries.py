"""Reads of alerts: only those in the person's projects."""

from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.shortcuts import get_object_or_404

from webapp.accounts.models import User
from webapp.alerts.models import Alert, Channel, Delivery
from webapp.projects import access
from webapp.projects.models import Project, Role
from webapp.runs.models import Attempt
from webapp.telemetry.models import Metric
from webapp.telemetry.points import BUILT_IN

SHOWN = 20  # closed alerts, messages
_NAMES_OF = 20  # newest attempts, whose metrics are offered
_MOST_NAMES = 500


def project_for(user: User | AnonymousUser, slug: str, role: Role) -> Project:
    """Http404 for strangers, PermissionDenied for members whose role is too small."""
    project = get_object_or_404(Project, slug=slug)
    access.require(user, project, role)
    return project


def languages_of(addresses: list[str]) -> dict[str, str]:
    """E-mail address, in lower case, to the language that its owner has chosen; others are not in it."""
    people = User.objects.filter(is_active=True).exclude(language="").annotate(address=Lower("email"))
    wanted = [address.strip().lower() for address in addresses]
    return dict(people.filter(address__in=wanted).values_list("address", "language"))


def of_project(project: Project) -> QuerySet[Alert]:
    """Newest first."""
    rows = Alert.objects.filter(rule__project=project, run__deleted_at=None)
    rows = rows.select_related("rule", "run__project", "attempt", "incident__attempt")
    return rows.prefetch_related("incident__attempt__parts")


def told_since(user: User | AnonymousUser, when: datetime) -> QuerySet[Alert]:
    """Open alerts that were told of since then, in the person's projects."""
    rows = Alert.objects.filter(told_at__gt=when, closed_at=None, run__deleted_at=None).order_by("-told_at")
    return access.visible(rows, user, "run__project").select_related("rule", "run__project", "incident__attempt")


def messages_of(project: Project) -> QuerySet[Delivery]:
    """The newest first."""
    return Delivery.objects.filter(channel__project=project).select_related("channel", "alert__run")


def channel_of(project: Project, pk: int) -> Channel:
    """Http404 when it is another project's."""
    return get_object_or_404(Channel, pk=pk, project=project)


def metric_names(project: Project) -> list[str]:
    """What can be put in a rule: built in, or had by one of the newest attempts."""
    attempts = Attempt.objects.filter(run__project=project, run__deleted_at=None).order_by("-pk")
    newest = list(attempts.values_list("pk", flat=True)[:_NAMES_OF])
    names = Metric.objects.filter(attempt__in=newest).order_by("name").values_list("name", flat=True).distinct()
    return sorted({*names[:_MOST_NAMES], *BUILT_IN})
