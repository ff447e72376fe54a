"""Links that show one run to whoever has them."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from webapp.runs.models import Run

LONGEST_VIEW = 2_000


class ShareLink(models.Model):
    """A read-only link to a run; of its secret a hash is kept. Written by `lifecycle.py` only."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="share_links")
    token_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=8)  # its first characters, to know it by
    view = models.CharField(max_length=LONGEST_VIEW, blank=True)  # ?query#tab of the run page when it was made
    with_logs = models.BooleanField(default=False)  # log lines and tracebacks
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField(null=True)  # the last time
    opened = models.PositiveIntegerField(default=0)  # how often

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"link {self.hint}… to {self.run_id}"
