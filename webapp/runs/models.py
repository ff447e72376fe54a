"""Runs, attempts, and what happened to each rank. State is written by `lifecycle.py` only."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.nodes.models import Node
from webapp.projects.models import Project

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"


def new_run_uid() -> str:
    return "r-" + "".join(secrets.choice(_ALPHABET) for _i in range(8))


class Status(models.TextChoices):
    QUEUED = "queued", _("queued")
    STARTING = "starting", _("starting")
    RUNNING = "running", _("running")
    STOPPING = "stopping", _("stopping")
    ENDED = "ended", _("ended")


class Outcome(models.TextChoices):
    """Write-once."""

    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    STOPPED = "stopped", _("stopped")
    LOST = "lost", _("lost")


class Cause(models.TextChoices):
    CODE = "code", _("code")
    NODE = "node", _("node")
    AGENT = "agent", _("agent")
    NETWORK = "network", _("network")
    USER = "user", _("user")
    LIMIT = "limit", _("limit")


class Stateful(models.Model):
    """What a run and an attempt have in common; the run's is its newest attempt's."""

    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    cause = models.CharField(max_length=10, choices=Cause.choices, blank=True)
    # A fixed word (`rank_exit`, `import_error`, `port_in_use`, …); the sentence for people lives in runs/wording.py.
    reason = models.CharField(max_length=40, blank=True)
    detail = models.JSONField(default=dict)  # {rank, node, code, signal, text, …}: fills the sentence
    actor = models.CharField(max_length=150, blank=True)  # user name or part ("scheduler", "agent gpu-a")
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)  # first rank lives
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class Run(Stateful):
    """What the user asked to train, and the summary row that list pages read."""

    uid = models.CharField(max_length=16, unique=True, default=new_run_uid)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="runs")
    name = models.CharField(max_length=120)
    spec = models.JSONField()  # runs/spec.py RunSpec, without secrets
    deleted_at = models.DateTimeField(null=True)
    # ---- how people arrange their lists
    archived_at = models.DateTimeField(null=True)  # out of the list unless it is asked for
    pinned_at = models.DateTimeField(null=True)  # on top of the project's list
    group = models.CharField(max_length=120, blank=True)
    # Of an attached run: names the job, so that all its nodes and its relaunches meet here. Empty: nobody can join.
    job_key = models.CharField(max_length=300, blank=True)
    # ---- summary, written by ingest and lifecycle
    attempt_count = models.PositiveIntegerField(default=0)
    world_size = models.PositiveIntegerField()
    last_step = models.BigIntegerField(null=True)
    total_steps = models.BigIntegerField(null=True)
    steps_per_s = models.FloatField(null=True)
    last_loss = models.FloatField(null=True)
    loss_text = models.CharField(max_length=12, blank=True)  # "NaN", "∞" when last_loss cannot say it
    loss_since = models.BigIntegerField(null=True)  # and then the first step since which it is so
    spark = models.JSONField(default=list)  # up to 40 loss values, null for a gap
    health = models.JSONField(default=dict)  # the worst open incident, by incidents/lifecycle.py; empty: in line

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["project", "-created_at", "-id"], name="run_page"),
            models.Index(fields=["-created_at", "-id"], name="run_page_all"),
            models.Index(fields=["status"], condition=~models.Q(status="ended"), name="run_open"),
            # Counts of the list's chips are read from this index alone.
            models.Index(
                fields=["project", "archived_at", "status", "outcome", "owner"],
                condition=models.Q(deleted_at=None),
                name="run_counts",
            ),
            models.Index(fields=["project", "group"], condition=~models.Q(group=""), name="run_group"),
            models.Index(fields=["project"], condition=~models.Q(pinned_at=None), name="run_pinned"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "job_key"],
                condition=models.Q(deleted_at=None) & ~models.Q(job_key=""),
                name="one_run_per_job",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.uid}"

    @property
    def steps_done(self) -> int | None:
        """Steps are numbered from 0."""
        return None if self.last_step is None else self.last_step + 1

    @property
    def is_attached(self) -> bool:
        """Launched by somebody else's scheduler: we watch, and place, retry and stop nothing on our own."""
        return bool(self.spec.get("attached"))


class Secret(models.Model):
    """One secret environment value: encrypted, write-only on the page, sent to nodes only."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=200)
    ciphertext = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_secret_per_name")]

    def __str__(self) -> str:
        return self.name


class Upload(models.Model):
    """A folder of code that somebody uploaded, as one .tar.gz kept by its hash."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    files = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "sha256"], name="one_upload_per_hash")]

    def __str__(self) -> str:
        return self.sha256


class Attempt(Stateful):
    """One launch of a run on a set of nodes."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    launch_key = models.CharField(max_length=100, blank=True)  # tells launches of one attached job apart, if known
    world_size = models.PositiveIntegerField()
    waits_for = models.JSONField(default=dict)  # {reason, slots, free, ahead, kept_out}: why it is still queued
    master_addr = models.CharField(max_length=255, blank=True)
    master_port = models.PositiveIntegerField(null=True)
    port_tries = models.PositiveIntegerField(default=0)
    placed_at = models.DateTimeField(null=True)
    stop_requested_at = models.DateTimeField(null=True)
    # ---- the three facts
    process_at = models.DateTimeField(null=True)  # a node said that the processes live
    telemetry_at = models.DateTimeField(null=True)  # data was stored
    progress_at = models.DateTimeField(null=True)  # the step moved
    last_step = models.BigIntegerField(null=True)
    # The script's own number of the first step of these processes: a resumed attempt goes on where a checkpoint was.
    # Stored points count from 0 in each attempt; whoever reads them adds this.
    first_step = models.BigIntegerField(default=0)
    hours = models.JSONField(default=dict)  # once all is stored: what its slot time went to, see telemetry/slot_time.py
    # ---- ingest ownership: one holder at a time, fenced
    lease_holder = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True)
    lease_fence = models.BigIntegerField(default=0)
    compacted = models.BooleanField(default=False)  # ended, and every tail row is in a segment

    class Meta:
        ordering = ["run", "number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_attempt_per_number")]
        indexes = [
            models.Index(fields=["status"], condition=~models.Q(status="ended"), name="attempt_open"),
            models.Index(fields=["compacted"], condition=models.Q(compacted=False), name="attempt_to_serve"),
        ]

    def __str__(self) -> str:
        return f"{self.run.uid}/{self.number}"

    @property
    def is_undecided(self) -> bool:
        """Ranks failed and all are stopped, but which failed first is not known yet."""
        return self.status == Status.STOPPING and not self.outcome


class AttemptNode(models.Model):
    """One node's part in one attempt. `applied_seq` is the last batch that the database has."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="parts")
    node = models.ForeignKey(Node, on_delete=models.SET_NULL, null=True, related_name="parts")
    node_uid = models.CharField(max_length=16)
    node_name = models.CharField(max_length=120)
    node_rank = models.PositiveIntegerField()
    slots = models.JSONField(default=list)
    applied_seq = models.BigIntegerField(default=0)
    launched_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)  # the node proved that the tree is gone
    lost_at = models.DateTimeField(null=True)  # given up without proof: its slots wait until the node shows up clean
    survivors = models.JSONField(default=list)  # processes that the node could not end: [{pid, name, state}]
    inventory = models.JSONField(default=dict)

    class Meta:
        ordering = ["node_rank"]
        constraints = [models.UniqueConstraint(fields=["attempt", "node_rank"], name="one_part_per_node_rank")]

    def __str__(self) -> str:
        return f"{self.attempt} on {self.node_name}"


class RankState(models.Model):
    """One training process of one attempt."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="ranks")
    rank = models.PositiveIntegerField()
    node_rank = models.PositiveIntegerField()
    local_rank = models.PositiveIntegerField()
    pid = models.PositiveIntegerField(null=True)
    started_at = models.DateTimeField(null=True)
    exited_at = models.DateTimeField(null=True)
    exit_code = models.IntegerField(null=True)
    exit_signal = models.PositiveIntegerField(null=True)
    traceback = models.TextField(blank=True)
    facts = models.JSONField(default=dict)  # what the probe can see, versions, guessed total
    dropped = models.JSONField(default=dict)  # what -> count
    made = models.BigIntegerField(null=True)  # step records that the rank has written, as its node last said
    sent = models.BigIntegerField(null=True)  # of these, how many its node has taken up to send
    gaps = models.JSONField(default=list)  # steps that will never come: [[first, last, reason]], numbered from 0
    log_bytes = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["rank"]
        constraints = [models.UniqueConstraint(fields=["attempt", "rank"], name="one_state_per_rank")]

    def __str__(self) -> str:
        return f"{self.attempt} rank {self.rank}"


class RunEvent(models.Model):
    """The run's own log: every transition and what led to it. `kind` is a fixed word, its text in runs/wording.py."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, null=True, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=40)
    level = models.CharField(max_length=8, default="info")  # info | ok | warn | crit
    actor = models.CharField(max_length=150, blank=True)
    rank = models.IntegerField(null=True)
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.kind
