"""Nodes, their slots, the tokens that admit them, and the commands sent to them."""

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone


def new_node_uid() -> str:
    return "n-" + secrets.token_hex(4)


class Node(models.Model):
    """A machine with one agent. `inventory` is the last `messages.Inventory` as JSON; kept after the node is gone."""

    uid = models.CharField(max_length=16, unique=True, default=new_node_uid)
    name = models.CharField(max_length=120, unique=True)
    token_hash = models.CharField(max_length=64, unique=True)
    redis_password_sha256 = models.CharField(max_length=64)
    inventory = models.JSONField(default=dict)
    vitals = models.JSONField(default=dict)  # last heartbeat's cpu, memory, attempts, dirty
    address = models.CharField(max_length=255, blank=True)
    agent_version = models.CharField(max_length=40, blank=True)
    clock_offset = models.FloatField(null=True)
    clock_error = models.FloatField(null=True)
    joined_at = models.DateTimeField(default=timezone.now)
    last_heard = models.DateTimeField(null=True)
    draining = models.BooleanField(default=False)
    # Not empty: no machine of ours but one attached launch's agent, by the name that it gave itself. Nothing is placed
    # on it, and it goes when its part is done.
    attached_as = models.CharField(max_length=64, blank=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["attached_as"], condition=~models.Q(attached_as=""), name="one_node_per_attached_agent"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Slot(models.Model):
    """One GPU or CPU slot. Claimed by a guarded update of `attempt`, freed when the node is clean."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="slots")
    index = models.PositiveIntegerField()
    kind = models.CharField(max_length=8)
    model = models.CharField(max_length=120, blank=True)
    attempt = models.ForeignKey("runs.Attempt", on_delete=models.SET_NULL, null=True, related_name="slots")

    class Meta:
        ordering = ["node", "index"]
        constraints = [models.UniqueConstraint(fields=["node", "index"], name="one_slot_per_index")]

    def __str__(self) -> str:
        return f"{self.node}:{self.index}"


class JoinToken(models.Model):
    """Admits one node, once."""

    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    node = models.ForeignKey(Node, on_delete=models.SET_NULL, null=True)

    def __str__(self) -> str:
        return f"join token {self.pk}"


class CommandKind(models.TextChoices):
    START = "start"
    STOP = "stop"
    FORGET = "forget"
    AUTOPSY = "autopsy"
    OPEN = "open"
    PROBE = "probe"


class Command(models.Model):
    """One order to one node. The row is the command; the stream entry built from it is only its hint.

    Sent again every few seconds until `accepted_at` is set (the agent drops an id that it has seen).
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="commands")
    attempt = models.ForeignKey("runs.Attempt", on_delete=models.CASCADE, null=True, related_name="commands")
    attempt_key = models.BigIntegerField()  # outlives a deleted attempt; 0: the order is about the node itself
    kind = models.CharField(max_length=8, choices=CommandKind.choices)
    arguments = models.JSONField(default=dict)  # signal, grace, reason, asked, check, …: never a secret
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["sent_at"], condition=models.Q(accepted_at=None), name="command_open")]

    def __str__(self) -> str:
        return f"{self.kind} {self.attempt_key} on {self.node}"
