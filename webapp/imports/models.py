"""Runs that were logged by another tool. Their points come by the same stream as a node's; `lifecycle.py` writes."""

from django.db import models
from django.utils import timezone

from webapp.projects.models import Project
from webapp.runs.models import Run


class Imported(models.Model):
    """Marks such a run. The same `source` imported again goes on in the same run."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="imported")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    kind = models.CharField(max_length=20)  # tensorboard | mlflow
    source = models.CharField(max_length=300)  # what stays the same wherever the files lie
    cursor = models.JSONField(default=dict)  # how far the importer had read once the points stored so far were made
    heard_at = models.DateTimeField(default=timezone.now)  # the importer's last word

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "source"], name="one_import_per_source")]

    def __str__(self) -> str:
        return f"{self.kind} {self.source}"
