"""Exports: a run's numbers and logs as one file. Written by `lifecycle.py` only."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.runs.models import Run


def new_export_uid() -> str:
    """Not to be guessed, though the link alone opens nothing."""
    return "x-" + secrets.token_hex(12)


class Kind(models.TextChoices):
    """What goes into the file, beside what the run was and what happened to it."""

    PARQUET = "parquet", _("Numbers as Parquet")
    CSV = "csv", _("Numbers as CSV")
    JSON = "json", _("Numbers as JSON")
    LOGS = "logs", _("Logs of every rank")


class State(models.TextChoices):
    """queued -> working -> done -> expired, or -> failed."""

    QUEUED = "queued", _("waiting")
    WORKING = "working", _("working")
    DONE = "done", _("ready")
    FAILED = "failed", _("failed")
    EXPIRED = "expired", _("expired")


class Export(models.Model):
    """One file that is made, or was. The plan is cut into units; a worker that ends in the middle costs one of them."""

    uid = models.CharField(max_length=32, unique=True, default=new_export_uid)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="exports")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="exports")
    kinds = models.JSONField()  # values of Kind
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    error = models.CharField(max_length=20, blank=True)  # a fixed word, its sentence is in words.py
    plan = models.JSONField(default=list)  # units, see plan.py
    units_done = models.PositiveIntegerField(default=0)  # of the plan, for sure in the file
    progress = models.FloatField(default=0.0)  # 0 to 1
    size = models.BigIntegerField(default=0)  # bytes
    file = models.CharField(max_length=200, blank=True)  # its name in Django's default storage
    tries = models.PositiveIntegerField(default=0)  # claims since something was last done
    lease_until = models.DateTimeField(null=True)  # a worker has it until then
    worked_at = models.DateTimeField(default=timezone.now)  # turns go to who has waited longest
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["worked_at"], condition=models.Q(state__in=["queued", "working"]), name="export_open"),
            models.Index(fields=["expires_at"], condition=models.Q(state="done"), name="export_kept"),
        ]

    def __str__(self) -> str:
        return self.uid
