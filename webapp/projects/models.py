"""Projects and who may do what in them."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """Each role may do all that the one before it may."""

    VIEWER = "viewer", _("viewer")
    EDITOR = "editor", _("editor")
    ADMIN = "admin", _("admin")


class Project(models.Model):
    """A team's space."""

    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=80)
    created_at = models.DateTimeField(default=timezone.now)
    # Seconds of silence after which a node's part of a run is given up; None: LOST_NODE_LIMIT_S of the settings.
    lost_node_limit_s = models.PositiveIntegerField(null=True, blank=True)
    # What a slot costs for an hour, for what incidents cost in money; None: money is not shown.
    slot_hour_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    currency = models.CharField(max_length=3, default="USD")
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="projects")

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One person's role in one project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_role_per_person")]

    def __str__(self) -> str:
        return f"{self.user} {self.role} in {self.project}"
