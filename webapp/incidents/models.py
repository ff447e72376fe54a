"""What was found wrong with a run: incidents, their timeline, and autopsies of runs that hang."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.runs.models import Attempt


class Severity(models.TextChoices):
    """By what it costs: under 5 %, up to 20 %, more or a hang."""

    INFO = "info", _("info")
    WARNING = "warning", _("warning")
    CRITICAL = "critical", _("critical")


class Incident(models.Model):
    """Findings about one subject of one attempt. Written by `lifecycle.py` only."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="incidents")
    kind = models.CharField(max_length=12)  # straggler wandering structural regression network input hang device …
    subject = models.CharField(max_length=40)  # rank 3 | node 1 | link 0-1 | job
    rank = models.PositiveIntegerField(null=True)
    node_rank = models.PositiveIntegerField(null=True)
    link = models.JSONField(null=True)  # [from node rank, to node rank]
    cause = models.CharField(max_length=12)  # data forward backward optimizer other cpu gpu network code unknown
    probable = models.BooleanField(default=True)  # no second signal and nobody confirms the cause
    cause_by = models.CharField(max_length=150, blank=True)  # a person, whose word stands; empty: the detectors
    severity = models.CharField(max_length=8, choices=Severity.choices)
    slowdown = models.FloatField(default=0.0)  # 0.2: a step takes 20 % more than it would without it
    gpu_hours = models.FloatField(default=0.0)  # slot time lost to it so far
    evidence = models.JSONField(default=dict)
    victims = models.JSONField(default=list)  # ranks that only wait for the subject
    opened_step = models.BigIntegerField(null=True)
    seen_step = models.BigIntegerField(null=True)
    opened_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=150, blank=True)  # a person; empty: it is over
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="acknowledged_incidents"
    )
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="assigned_incidents"
    )

    class Meta:
        ordering = ["-opened_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "kind", "subject"], condition=models.Q(closed_at=None), name="one_open_per_subject"
            )
        ]
        indexes = [models.Index(fields=["attempt"], condition=models.Q(closed_at=None), name="incident_open")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject} of {self.attempt_id}"


class IncidentEvent(models.Model):
    """One line of an incident's timeline."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=12)  # opened reopened worse cause placed acknowledged assigned …
    actor = models.CharField(max_length=150, blank=True)
    text = models.TextField(blank=True)  # of a comment
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.kind


class Watch(models.Model):
    """What the detectors remember of an attempt between two looks. Its own, so nothing of a past attempt counts."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, related_name="watch")
    baseline = models.JSONField(default=dict)  # {number: [middle, noise]} of healthy steps, seconds
    looked_step = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"watch of {self.attempt_id}"


class Autopsy(models.Model):
    """What all ranks of an attempt were doing at one moment."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="autopsies")
    incident = models.ForeignKey(Incident, on_delete=models.SET_NULL, null=True, related_name="autopsies")
    asked_at = models.DateTimeField(default=timezone.now)
    asked_by = models.CharField(max_length=150, blank=True)  # a person; empty: the hang watch
    verdict = models.JSONField(default=dict)  # the fields of `hang/verdict.py`; empty: nobody has judged yet

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"autopsy of {self.attempt_id}"


class AutopsyPiece(models.Model):
    """What several ranks of an autopsy told alike: frames of a thread, a collective; see `pieces.py`."""

    autopsy = models.ForeignKey(Autopsy, on_delete=models.CASCADE, related_name="pieces")
    digest = models.CharField(max_length=32)
    content = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["autopsy", "digest"], name="one_piece_per_digest")]

    def __str__(self) -> str:
        return self.digest


class AutopsyRank(models.Model):
    """What one rank was doing; see `hang/facts.py`, with its pieces taken out. An attempt may have a thousand."""

    autopsy = models.ForeignKey(Autopsy, on_delete=models.CASCADE, related_name="ranks")
    rank = models.PositiveIntegerField()
    facts = models.JSONField(default=dict)

    class Meta:
        ordering = ["rank"]
        constraints = [models.UniqueConstraint(fields=["autopsy", "rank"], name="one_answer_per_rank")]

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.autopsy}"
