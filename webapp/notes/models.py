"""What people write about a run: its notes, comments below them, and whom those mention."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from webapp.runs.models import Run

LONGEST_NOTE, LONGEST_COMMENT = 100_000, 10_000  # characters


class Note(models.Model):
    """The notes of one run, in Markdown. A run without a row has none. Written by `lifecycle.py` only."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="note")
    text = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    changed_at = models.DateTimeField(default=timezone.now)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    def __str__(self) -> str:
        return f"notes of {self.run_id}"


class NoteVersion(models.Model):
    """What the notes said before a change."""

    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["note", "version"], name="one_row_per_version")]

    def __str__(self) -> str:
        return f"version {self.version} of {self.note_id}"


class Comment(models.Model):
    """What one person says about a run, in Markdown."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    author_name = models.CharField(max_length=150)  # outlives the account
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)
    edited_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"comment of {self.author_name} on {self.run_id}"


class Mention(models.Model):
    """A person named in a comment; the row is also the queue of the e-mail that says so."""

    class Mail(models.TextChoices):
        NONE = "none"  # not wanted, or no address
        WAITING = "waiting"
        SENDING = "sending"
        SENT = "sent"
        FAILED = "failed"

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="mentions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mentions")
    seen_at = models.DateTimeField(null=True)
    mail = models.CharField(max_length=8, choices=Mail.choices, default=Mail.NONE)
    tries = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)  # when to try, or when a sender that is silent is given up

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["comment", "user"], name="mentioned_once")]
        indexes = [
            models.Index(fields=["user"], condition=models.Q(seen_at=None), name="mention_unseen"),
            models.Index(fields=["next_at"], condition=models.Q(mail__in=["waiting", "sending"]), name="mention_due"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.comment_id}"


class MentionChoice(models.Model):
    """Who has a row here wants no e-mail when mentioned."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="no_mention_mail")

    def __str__(self) -> str:
        return f"no e-mail to {self.user_id}"
