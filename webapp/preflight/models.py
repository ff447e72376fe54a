"""Checks of nodes and of the links between them. State is written by `lifecycle.py` only."""

from django.db import models
from django.utils import timezone

from webapp.nodes.models import Node
from webapp.runs.models import Attempt


class Stage(models.TextChoices):
    """Each only leads to the next ones."""

    OPENING = "opening"  # nodes look at themselves and open their ports
    MEASURING = "measuring"  # pairs of nodes measure the link between them
    REPEATING = "repeating"  # what looked bad is measured once more
    DONE = "done"


class Level(models.TextChoices):
    GREEN = "green"
    AMBER = "amber"
    RED = "red"


class Check(models.Model):
    """One check of a set of nodes, before an attempt starts or because a person asked."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, null=True, related_name="checks")
    asked_by = models.CharField(max_length=150, blank=True)  # a person; empty: the scheduler, for its attempt
    asked_at = models.DateTimeField(default=timezone.now)
    stage = models.CharField(max_length=10, choices=Stage.choices, default=Stage.OPENING)
    stage_until = models.DateTimeField()  # no longer is waited for answers
    done_at = models.DateTimeField(null=True)
    level = models.CharField(max_length=8, choices=Level.choices, blank=True)
    findings = models.JSONField(default=list)  # [{level, kind, nodes, told}], see verdict.py

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["stage_until"], condition=~models.Q(stage="done"), name="check_open")]

    def __str__(self) -> str:
        return f"check {self.pk}"


class Presence(models.TextChoices):
    ASKED = "asked"
    OPENED = "opened"  # has told of itself and listens
    MEASURED = "measured"  # has told of its links, in this stage
    TOO_OLD = "too_old"
    UNREACHABLE = "unreachable"


class CheckedNode(models.Model):
    """One node's answers. Past ones are what its links are compared with."""

    check_of = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="nodes")
    place = models.PositiveIntegerField()  # the first node is 0; of a pair the higher one calls
    node = models.ForeignKey(Node, on_delete=models.SET_NULL, null=True, related_name="checks")
    node_uid = models.CharField(max_length=16)
    node_name = models.CharField(max_length=120)
    presence = models.CharField(max_length=12, choices=Presence.choices, default=Presence.ASKED)
    is_busy = models.BooleanField(default=False)  # another run held slots of it: its links were not free
    port = models.PositiveIntegerField(default=0)  # where it listens, any port
    meeting_port = models.PositiveIntegerField(default=0)  # one of the rendezvous ports; 0: none was free
    facts = models.JSONField(default=dict)  # what it told of itself, see docs/wire.md, "Pre-flight"
    links = models.JSONField(default=dict)  # other node's uid -> {mb_s (what arrives from it), rtt_ms, error, meeting}

    class Meta:
        ordering = ["place"]
        constraints = [models.UniqueConstraint(fields=["check_of", "place"], name="one_place_per_check")]

    def __str__(self) -> str:
        return f"{self.node_name} in {self.check_of_id}"
