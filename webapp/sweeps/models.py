"""Sweeps and their trials. Written by `lifecycle.py` only; what a trial's run does is the run's own matter."""

import secrets
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.projects.models import Project
from webapp.runs.models import Run
from webapp.sweeps.space import Choices, read

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"


def new_sweep_uid() -> str:
    return "s-" + "".join(secrets.choice(_ALPHABET) for _i in range(6))


def new_seed() -> int:
    return secrets.randbelow(2**31)


class Method(models.TextChoices):
    GRID = "grid", _("grid: every combination")
    RANDOM = "random", _("random: by chance")
    OPTUNA = "optuna", _("Optuna: by what the runs so far have shown")


class Direction(models.TextChoices):
    MINIMIZE = "minimize", _("as low as possible")
    MAXIMIZE = "maximize", _("as high as possible")


class Ended(models.TextChoices):
    """Why a sweep starts no more runs. Empty while it does."""

    DONE = "done", _("all runs made")
    STOPPED = "stopped", _("stopped")
    FAILING = "failing", _("too many runs failed in a row")
    NO_RIGHT = "no_right", _("its owner may no longer launch here")
    NO_SECRETS = "no_secrets", _("its secrets cannot be read")


class Sweep(models.Model):
    """One command, the space of its arguments, and the metric that says which are best."""

    uid = models.CharField(max_length=16, unique=True, default=new_sweep_uid)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sweeps")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="sweeps")
    name = models.CharField(max_length=100)
    spec = models.JSONField()  # runs/spec.py RunSpec of every run, without the arguments that are tried
    secrets = models.BinaryField(default=bytes)  # encrypted JSON {name: value} of every run's secrets
    space = models.JSONField()  # [[argument, what was typed], …] in the order of the form; sweeps/space.py reads it
    method = models.CharField(max_length=8, choices=Method.choices)
    goal = models.CharField(max_length=500)  # name of a metric
    direction = models.CharField(max_length=8, choices=Direction.choices, default=Direction.MINIMIZE)
    most_runs = models.PositiveIntegerField()
    parallel = models.PositiveIntegerField(default=1)
    early = models.BooleanField(default=False)  # stop by the median rule
    not_before = models.PositiveIntegerField(default=0)  # the step up to which nobody is stopped early
    seed = models.BigIntegerField(default=new_seed)
    created_at = models.DateTimeField(default=timezone.now)
    ended = models.CharField(max_length=10, choices=Ended.choices, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["ended"], condition=models.Q(ended=""), name="sweep_open")]

    def __str__(self) -> str:
        return f"{self.name} {self.uid}"

    @cached_property
    def choices(self) -> dict[str, Choices]:
        """Argument to what it may be."""
        return {name: read(text) for name, text in self.space}

    @property
    def minimize(self) -> bool:
        return self.direction == Direction.MINIMIZE


class State(models.TextChoices):
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    EARLY = "early", _("stopped early")
    STOPPED = "stopped", _("stopped")
    FAILED = "failed", _("failed")


class Trial(models.Model):
    """One run of a sweep and what it has reached."""

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="trials")
    number = models.PositiveIntegerField()  # from 1
    run = models.OneToOneField(Run, on_delete=models.SET_NULL, null=True, related_name="trial")
    arguments = models.JSONField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    given_up = models.BooleanField(default=False)  # asked to stop by the median rule
    value = models.FloatField(null=True)  # of the goal, the last that the run has logged
    curve = models.JSONField(default=list)  # [[step, value], …] of the goal, thinned

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["sweep", "number"], name="one_trial_per_number")]

    def __str__(self) -> str:
        return f"{self.sweep.uid} trial {self.number}"

    @property
    def shown(self) -> dict[str, Any]:
        """Arguments by name in the order of the form."""
        return {name: self.arguments.get(name) for name, _text in self.sweep.space}
