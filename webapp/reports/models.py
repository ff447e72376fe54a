"""Pages of text and live charts of chosen runs. Written by `lifecycle.py` only."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.projects.models import Project

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
LONGEST_TITLE, LONGEST_TEXT = 200, 40_000


def new_report_uid() -> str:
    return "rep-" + "".join(secrets.choice(_ALPHABET) for _i in range(8))


class Kind(models.TextChoices):
    TEXT = "text", _("Text")
    CURVES = "curves", _("Curves of a metric")
    PHASES = "phases", _("A step's time")
    SCALING = "scaling", _("Scaling")
    TABLE = "table", _("Table of runs")


class Axis(models.TextChoices):
    STEP = "step", _("by step")
    RELATIVE = "relative", _("by time since start")
    TIME = "time", _("by time of day")


class Report(models.Model):
    """`link_hash`: of the secret of the one link that opens it without an account; None: there is no link."""

    uid = models.CharField(max_length=16, unique=True, default=new_report_uid)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="reports")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    title = models.CharField(max_length=LONGEST_TITLE)
    created_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)
    link_hash = models.CharField(max_length=64, null=True, unique=True)
    link_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-changed_at", "-pk"]

    def __str__(self) -> str:
        return self.title


class Block(models.Model):
    """One part of a report. A text has only `text`; the others have runs, curves and tables metrics too."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="blocks")
    place = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.TEXT)
    text = models.TextField(blank=True, max_length=LONGEST_TEXT)  # Markdown; of a chart what stands below it
    runs = models.JSONField(default=list)  # ids, in their order; some may be gone
    metrics = models.JSONField(default=list)
    axis = models.CharField(max_length=8, choices=Axis.choices, default=Axis.STEP)
    smooth = models.FloatField(default=0.0)

    class Meta:
        ordering = ["place", "pk"]

    def __str__(self) -> str:
        return f"{self.report_id} {self.place} {self.kind}"
