"""Files that belong to a run: kept by the server, or noted where they lie. Written by `lifecycle.py` only."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.runs.models import Run


class Kind(models.TextChoices):
    KEPT = "kept", _("kept here")
    PATH = "path", _("stays on its node")


class Artifact(models.Model):
    """One file. `name` is a path of its own inside the run, such as `checkpoints/best.pt`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artifacts")
    name = models.CharField(max_length=255)
    kind = models.CharField(max_length=4, choices=Kind.choices)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    content = models.CharField(max_length=200, blank=True)  # of one that is kept: its name in the store
    path = models.CharField(max_length=1000, blank=True)  # of one that stays
    node = models.CharField(max_length=120, blank=True)  # and the machine that said so
    added_at = models.DateTimeField(default=timezone.now)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_artifact_per_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_kept(self) -> bool:
        """Whether it can be downloaded from here."""
        return self.kind == Kind.KEPT
