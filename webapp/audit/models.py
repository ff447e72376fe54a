"""Who did what, when and from where. Rows are only added; housekeeping removes the old ones."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Verb(models.TextChoices):
    """What was done. The label follows the name of who did it."""

    LAUNCHED = "run.launched", _("launched a run")
    CHANGED = "run.changed", _("changed a run")
    STOPPED = "run.stopped", _("stopped a run")
    RESTARTED = "run.restarted", _("restarted a run")
    DELETED = "run.deleted", _("deleted a run")
    RESTORED = "run.restored", _("brought back a deleted run")
    ARTIFACT_ADDED = "artifact.added", _("added a file to a run")
    ARTIFACT_REMOVED = "artifact.removed", _("deleted a file of a run")
    ATTACHED = "run.attached", _("had a launch from elsewhere watched")
    IMPORTED = "run.imported", _("imported a run")
    EXPORTED = "run.exported", _("exported a run")
    FETCHED = "export.fetched", _("downloaded an export")
    SWEPT = "sweep.started", _("started a sweep")
    SWEEP_STOPPED = "sweep.stopped", _("stopped a sweep")
    SHARED = "run.shared", _("shared a run by link")
    UNSHARED = "run.unshared", _("took back a link to a run")
    REPORT_MADE = "report.made", _("wrote a report")
    REPORT_CHANGED = "report.changed", _("changed a report")
    REPORT_REMOVED = "report.removed", _("removed a report")
    INCIDENT_SEEN = "incident.seen", _("acknowledged an incident")
    INCIDENT_ASSIGNED = "incident.assigned", _("assigned an incident")
    INCIDENT_COMMENTED = "incident.commented", _("commented on an incident")
    INCIDENT_CAUSE = "incident.cause", _("confirmed the cause of an incident")
    INCIDENT_CLOSED = "incident.closed", _("closed an incident")
    PROJECT_MADE = "project.made", _("made a project")
    PROJECT_SET = "project.set", _("changed a project's settings")
    MEMBER_ADDED = "member.added", _("added a member")
    MEMBER_ROLE = "member.role", _("changed a role")
    MEMBER_REMOVED = "member.removed", _("removed a member")
    INVITED = "invitation.made", _("invited somebody")
    INVITATION_ACCEPTED = "invitation.accepted", _("accepted an invitation")
    INVITATION_REVOKED = "invitation.revoked", _("took back an invitation")
    TOKEN_MADE = "token.made", _("made a token")
    TOKEN_REVOKED = "token.revoked", _("revoked a token")
    LOGGED_IN = "login.done", _("logged in")
    LOGIN_FAILED = "login.failed", _("failed to log in")
    LOGIN_REFUSED = "login.refused", _("failed to log in too often")
    PASSWORD_SET = "password.set", _("set a new password")
    RESET_LINK = "password.link", _("made a link for a new password")
    FACTOR_ADDED = "factor.added", _("added a second factor")
    FACTOR_REMOVED = "factor.removed", _("removed a second factor")
    RECOVERY_CODES = "factor.codes", _("made new recovery codes")
    PERSON_SWITCHED = "person.switched", _("switched an account on or off")
    JOIN_TOKEN = "node.token", _("made a join token for a node")
    NODE_JOINED = "node.joined", _("joined a node")
    NODE_DRAINED = "node.drained", _("drained a node")
    NODE_UNDRAINED = "node.undrained", _("let a node take runs again")
    NODE_REMOVED = "node.removed", _("removed a node")
    CHANNEL_ADDED = "channel.added", _("added a channel for alerts")
    CHANNEL_CHANGED = "channel.changed", _("changed a channel for alerts")
    CHANNEL_REMOVED = "channel.removed", _("removed a channel for alerts")
    RULE_CHANGED = "rule.changed", _("changed an alert rule")
    RULE_REMOVED = "rule.removed", _("removed an alert rule")
    SILENCED = "silence.made", _("silenced alerts")
    UNSILENCED = "silence.ended", _("ended a silence")


class Entry(models.Model):
    """One act. Names stand beside the keys, because the log outlives what it speaks of."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    actor_name = models.CharField(max_length=150, blank=True)
    token_name = models.CharField(max_length=80, blank=True)  # of the API token that was used, if one was
    verb = models.CharField(max_length=24)  # a Verb; no choices, so that a new one needs no migration
    target = models.CharField(max_length=200, blank=True)
    detail = models.CharField(max_length=200, blank=True)  # never a secret
    project = models.ForeignKey("projects.Project", on_delete=models.SET_NULL, null=True, related_name="+")
    address = models.CharField(max_length=45, blank=True)  # IPv4 or IPv6

    class Meta:
        indexes = [models.Index(fields=["project", "-id"], name="audit_of_project")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor_name} {self.verb} {self.target}"

    @property
    def words(self) -> str:
        """What was done, in words; the bare verb when a newer version wrote it."""
        return str(Verb(self.verb).label) if self.verb in Verb.values else self.verb
