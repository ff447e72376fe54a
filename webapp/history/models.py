"""What lists of runs are searched, sorted and arranged by. Numbers come from ingest, arguments from the launch."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from webapp.projects.models import Project
from webapp.runs.models import Run

LONGEST_TEXT = 500


class Kind(models.TextChoices):
    METRIC = "metric"
    CONFIG = "config"


class Key(models.Model):
    """A name of a metric or an argument that some run of the project has: what pickers and completion search."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="keys")
    kind = models.CharField(max_length=6, choices=Kind.choices)
    name = models.CharField(max_length=LONGEST_TEXT)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "kind", "name"], name="one_key_per_name")]
        indexes = [models.Index(fields=["kind", "name"], name="key_by_name")]

    def __str__(self) -> str:
        return f"{self.kind}.{self.name}"


class MetricValue(models.Model):
    """What a run's metric came to, by the lowest rank that logs it. Null where no value was a finite number."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="metric_values")
    key = models.ForeignKey(Key, on_delete=models.CASCADE, related_name="metric_values")
    attempt = models.PositiveIntegerField()  # of the newest attempt that logged it
    step = models.BigIntegerField()  # of `last`, as stored
    last = models.FloatField(null=True)
    low = models.FloatField(null=True)  # over all attempts
    high = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="one_metric_value_per_key")]
        indexes = [models.Index(fields=["key", name, "run"], name=f"metric_{name}") for name in ("last", "low", "high")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.key_id}"


class ConfigValue(models.Model):
    """One argument, variable or logged setting of a run. `number` where the text is one."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="config_values")
    key = models.ForeignKey(Key, on_delete=models.CASCADE, related_name="config_values")
    text = models.CharField(max_length=LONGEST_TEXT)
    number = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="one_config_value_per_key")]
        indexes = [models.Index(fields=["key", name, "run"], name=f"config_{name}") for name in ("number", "text")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.key_id}"


class Tag(models.Model):
    """One word on one run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=60)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_tag_per_name")]
        indexes = [models.Index(fields=["name", "run"], name="tag_by_name")]

    def __str__(self) -> str:
        return self.name


class Favourite(models.Model):
    """One person's star on one run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="favourites")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="favourites")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "run"], name="one_star_per_person")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.run_id}"


class SavedView(models.Model):
    """A state of a project's runs list under a name: the address after the question mark."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=4000)
    is_default = models.BooleanField(default=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_view_per_name"),
            models.UniqueConstraint(
                fields=["project"], condition=models.Q(is_default=True), name="one_default_view_per_project"
            ),
        ]

    def __str__(self) -> str:
        return self.name
