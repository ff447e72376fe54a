"""Times of maintenance in which nothing is sent."""

from datetime import datetime

from django.db.models import Q, QuerySet

from webapp.alerts.models import Silence
from webapp.projects.models import Project


def silence_of(project: Project, now: datetime) -> Silence | None:
    """The silence that holds for a project now, the one that lasts longest."""
    return _for(project).filter(since__lte=now, until__gt=now).order_by("-until").first()


def to_come(project: Project, now: datetime) -> QuerySet[Silence]:
    """Those that hold or will, the next first."""
    return _for(project).filter(until__gt=now).order_by("since", "pk")


def _for(project: Project) -> QuerySet[Silence]:
    return Silence.objects.filter(Q(project=project) | Q(project=None))
