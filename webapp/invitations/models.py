"""Invitations: the only way to an account."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from webapp.projects.models import Role


class Invitation(models.Model):
    """A one-time link for one e-mail address, into a project or only onto the server; of the link a hash is kept."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, null=True, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.email
