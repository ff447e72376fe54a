"""How a machine becomes a node: a one-time token, answered with credentials of its own."""

import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec
import redis
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from trainer_agent.wire.messages import Inventory
from webapp.accounts.models import User, hash_token
from webapp.nodes import acl
from webapp.nodes.inventory import update_slots
from webapp.nodes.models import JoinToken, Node

log = logging.getLogger(__name__)

MAX_SLOTS = 1_024
_NAME_LENGTH = 100


class JoinRefused(Exception):
    """The token or the request is not good; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Joined:
    """What the node is told, once: only hashes stay here."""

    node: Node
    token: str
    password: str


def issue_join_token(user: User | None, minutes: int = 60) -> str:
    """A secret that admits one node, once, within `minutes`."""
    secret = "plj_" + secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(minutes=minutes)
    JoinToken.objects.create(token_hash=hash_token(secret), created_by=user, expires_at=expires)
    return secret


def join(token: str, name: str, slots: int, inventory: dict[str, Any]) -> Joined:
    """Admit a machine. JoinRefused for a bad token or inventory; the token is then as good as before."""
    known = _inventory(inventory, slots)
    secret, password = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    with transaction.atomic():
        admitted = _take(token)
        node = Node.objects.create(
            name=_free_name(name or known.hostname),
            token_hash=hash_token(secret),
            redis_password_sha256=acl.password_hash(password),
            inventory=msgspec.to_builtins(known),
            address=known.address,
            agent_version=known.agent_version,
            last_heard=timezone.now(),
        )
        update_slots(node, known.slots)
        JoinToken.objects.filter(pk=admitted.pk).update(node=node)
    open_pipe(node)
    log.info("node %s (%s) joined with %d slots", node.uid, node.name, len(known.slots))
    return Joined(node, secret, password)


def admit_attached(member: str, inventory: Inventory) -> Joined:
    """The node of one attached launch's agent, and credentials; the ones that `member` was given before end.

    It has no slots. Ask `open_pipe` for its Redis user once the transaction is over.
    """
    secret, password = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    fields = {
        "token_hash": hash_token(secret),
        "redis_password_sha256": acl.password_hash(password),
        "inventory": msgspec.to_builtins(inventory),
        "address": inventory.address,
        "agent_version": inventory.agent_version,
        "last_heard": timezone.now(),
        "removed_at": None,
    }
    node = Node.objects.filter(attached_as=member).first() or Node(attached_as=member)
    node.name = f"attached {node.uid}"
    for name, value in fields.items():
        setattr(node, name, value)
    node.save()
    return Joined(node, secret, password)


def open_pipe(node: Node) -> None:
    """Give a new node its Redis user; the sweep does it when Redis is away."""
    try:
        acl.ensure(node)
    except redis.RedisError as error:
        log.warning("no Redis user for new node %s yet, the sweep makes it: %s", node.uid, error)


def _take(token: str) -> JoinToken:
    now = timezone.now()
    found = JoinToken.objects.filter(token_hash=hash_token(token))
    if found.filter(used_at=None, expires_at__gt=now).update(used_at=now) != 1:
        row = found.first()
        raise JoinRefused(_why_not(row))
    return found.get()


def _why_not(row: JoinToken | None) -> str:
    if row is None:
        return _("This join token is not known. Make one on the Nodes page.")
    if row.used_at is not None:
        return _("This join token was used already; each admits one machine. Make a new one on the Nodes page.")
    return _("This join token has expired. Make a new one on the Nodes page.")


def _inventory(inventory: dict[str, Any], slots: int) -> Inventory:
    try:
        known = msgspec.convert(inventory, Inventory)
    except msgspec.ValidationError as error:
        raise JoinRefused(_("The inventory cannot be read: %(error)s") % {"error": error}) from error
    if not 1 <= len(known.slots) <= MAX_SLOTS or slots != len(known.slots):
        raise JoinRefused(_("A node offers 1 to %(most)d slots, each in its inventory.") % {"most": MAX_SLOTS})
    return known


def _free_name(wanted: str) -> str:
    """The name, with a number behind it when another node has or had it."""
    base = "".join(letter for letter in wanted.strip() if letter.isprintable())[:_NAME_LENGTH] or "node"
    taken = set(Node.objects.filter(name__startswith=base).values_list("name", flat=True))
    number, name = 1, base
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name
