"""Reads of sweeps for pages and API."""

from collections.abc import Sequence

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, QuerySet
from django.http import Http404

from webapp.accounts.models import User
from webapp.projects import access
from webapp.projects.models import Role
from webapp.sweeps.models import State, Sweep, Trial


def sweep_for(user: User | AnonymousUser, uid: str, role: Role) -> Sweep:
    """The sweep, if the person has `role` in its project: Http404 for strangers, PermissionDenied for less."""
    sweep = Sweep.objects.select_related("project", "owner").filter(uid=uid).first()
    if sweep is None:
        raise Http404
    access.require(user, sweep.project, role)
    return sweep


def sweeps_for(user: User | AnonymousUser) -> QuerySet[Sweep]:
    """Those that the person may see, newest first, with how many trials they have and how many of them run."""
    sweeps = access.visible(Sweep.objects.all(), user).select_related("project", "owner")
    running = Count("trials", filter=Q(trials__state=State.RUNNING))
    return sweeps.annotate(made=Count("trials"), running=running)


def best_of(sweep: Sweep, trials: Sequence[Trial]) -> Trial | None:
    """The trial with the best value so far, whether it still runs or not."""
    known = [trial for trial in trials if trial.value is not None]
    if not known:
        return None
    return min(known, key=lambda trial: (trial.value or 0.0) * (1 if sweep.minimize else -1))
