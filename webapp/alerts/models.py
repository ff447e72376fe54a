"""Rules, what they raised, where that is said, and when nothing is said. Alerts are written by `lifecycle.py` only."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.alerts import firing, over_ranks
from webapp.alerts.firing import Condition
from webapp.alerts.of_incidents import Wanted
from webapp.incidents.models import Incident, Severity
from webapp.projects.models import Project
from webapp.runs.models import Attempt, Run


class Kind(models.TextChoices):
    METRIC = "metric", _("on a metric")
    INCIDENT = "incident", _("on incidents")


class Over(models.TextChoices):
    """How the values of all ranks become one."""

    ANY = over_ranks.ANY, _("any rank")
    MIN = over_ranks.MIN, _("lowest rank")
    MEAN = over_ranks.MEAN, _("mean of the ranks")
    MAX = over_ranks.MAX, _("highest rank")
    MEDIAN = over_ranks.MEDIAN, _("median of the ranks")
    SPREAD = over_ranks.SPREAD, _("spread: highest minus lowest rank")


class Comparison(models.TextChoices):
    ABOVE = firing.ABOVE, _("is above")
    BELOW = firing.BELOW, _("is below")
    SILENT = firing.SILENT, _("has no data")
    NOT_FINITE = firing.NOT_FINITE, _("is NaN or infinite")


class Rule(models.Model):
    """When a project wants to be told. The default one tells of incidents; it may be switched off, not removed."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alert_rules")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    enabled = models.BooleanField(default=True)
    is_default = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)  # what was over before is not the rule's matter
    # ---- on a metric
    metric = models.CharField(max_length=500, blank=True)
    over = models.CharField(max_length=8, choices=Over.choices, default=Over.ANY)
    comparison = models.CharField(max_length=8, choices=Comparison.choices, default=Comparison.ABOVE)
    threshold = models.FloatField(null=True)
    window_s = models.PositiveIntegerField(default=0)
    hold_s = models.PositiveIntegerField(default=0)
    severity = models.CharField(max_length=8, choices=Severity.choices, default=Severity.WARNING)
    # ---- on incidents
    kinds = models.JSONField(default=list, blank=True)
    least_severity = models.CharField(max_length=8, choices=Severity.choices, default=Severity.WARNING)
    least_slowdown = models.FloatField(default=0.0)

    class Meta:
        ordering = ["-is_default", "name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=models.Q(is_default=True), name="one_default_rule_per_project"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def condition(self) -> Condition:
        """Of a rule on a metric."""
        return Condition(self.comparison, self.threshold or 0.0, self.window_s, self.hold_s)

    @property
    def wanted(self) -> Wanted:
        """Of a rule on incidents."""
        return Wanted(self.kinds, self.least_severity, self.least_slowdown)


class Silence(models.Model):
    """Maintenance: alerts open, but nothing is sent. Without a project it holds for the whole site."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="silences")
    since = models.DateTimeField()
    until = models.DateTimeField()
    reason = models.CharField(max_length=200)
    created_by = models.CharField(max_length=150)

    class Meta:
        ordering = ["-until", "-pk"]

    def __str__(self) -> str:
        return self.reason


class Alert(models.Model):
    """A rule that fires on a run. `facts` is what the rule asked then, so that its sentence stays true."""

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="alerts")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="alerts")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="alerts")
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, null=True, related_name="alerts")
    severity = models.CharField(max_length=8, choices=Severity.choices)
    facts = models.JSONField(default=dict)
    value = models.FloatField(null=True)  # None also where JSON could not say it
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)  # when it was handed to the channels; None: nobody was told
    over_told_at = models.DateTimeField(null=True)  # when the channels were told that it is over
    silenced = models.CharField(max_length=200, blank=True)  # why nobody was told when it opened

    class Meta:
        ordering = ["-opened_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "run"],
                condition=models.Q(closed_at=None, incident=None),
                name="one_open_alert_per_rule_and_run",
            ),
            models.UniqueConstraint(fields=["rule", "incident"], name="one_alert_per_rule_and_incident"),
        ]
        indexes = [
            models.Index(fields=["rule"], condition=models.Q(closed_at=None), name="alert_open"),
            models.Index(
                fields=["closed_at"],
                condition=models.Q(told_at__isnull=False, over_told_at=None),
                name="alert_to_be_said_over",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule} on {self.run}"


class Channel(models.Model):
    """Where a project's alerts are said. Address and secret are encrypted; `shown` is what people see of one."""

    class Kind(models.TextChoices):
        EMAIL = "email", _("e-mail")
        WEBHOOK = "webhook", _("webhook")
        SLACK = "slack", _("Slack webhook")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alert_channels")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    name = models.CharField(max_length=80, blank=True)
    shown = models.CharField(max_length=500)
    address = models.BinaryField()
    secret = models.BinaryField(default=b"", blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name or self.shown


class Delivery(models.Model):
    """One message to one channel: the row is the queue and the log. Written by `deliveries.py` only."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENDING = "sending", _("sending")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, null=True, related_name="deliveries")  # None: a test
    message = models.JSONField()  # outgoing/message.py
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    tries = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    next_at = models.DateTimeField(default=timezone.now)  # WAITING: not before; SENDING: given up by then
    ended_at = models.DateTimeField(null=True)
    status = models.PositiveIntegerField(null=True)  # of the HTTP answer
    error = models.CharField(max_length=300, blank=True)
    reached = models.JSONField(default=list)  # marks of readers of e-mail who have it: a retry goes to the others

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["next_at"], condition=models.Q(state__in=["waiting", "sending"]), name="delivery_due"),
            models.Index(fields=["ended_at"], name="delivery_ended"),
        ]

    def __str__(self) -> str:
        return f"{self.channel}: {self.state}"
