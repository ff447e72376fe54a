"""What nodes say every two seconds, written to rows: who lives, what it has, which attempts it holds."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction

from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import Heartbeat
from webapp.nodes.holdings import compare
from webapp.nodes.inventory import update_slots
from webapp.nodes.models import Node
from webapp.queue import PLACE, hint
from webapp.redis import connection
from webapp.runs.counts import note_counts
from webapp.runs.facts import note_process
from webapp.runs.models import AttemptNode
from webapp.runs.state import PLACED

log = logging.getLogger(__name__)


def read(now: datetime) -> int:
    """Copy every new heartbeat to its rows; how many were new. RedisError when there is nothing to read from."""
    nodes = list(Node.objects.filter(removed_at=None))
    raw = connection().mget([names.heartbeat(node.uid) for node in nodes]) if nodes else []
    fresh = 0
    for node, data in zip(nodes, raw, strict=True):
        beat = _decode(node, data)
        if beat is not None and beat.at != node.vitals.get("at"):
            with transaction.atomic():
                _apply(node, beat, now)
            fresh += 1
    _note_processes()
    return fresh


def watching_since(now: datetime) -> datetime:
    """Since when heartbeats have been read without a pause. Silence from before that is the server's own.

    After a pause of the server or of Redis the nodes get their whole time again to be heard.
    """
    key = names.watching()
    since = connection().get(key)
    if since is None:
        connection().set(key, now.timestamp(), nx=True, ex=names.HEARTBEAT_TTL)
        return now
    connection().expire(key, names.HEARTBEAT_TTL)
    return datetime.fromtimestamp(float(since), UTC)


def _decode(node: Node, data: bytes | str | None) -> Heartbeat | None:
    if not isinstance(data, bytes):
        return None
    try:
        beat = codec.decode_heartbeat(data)
    except codec.BadMessage as error:
        log.warning("heartbeat of %s cannot be read: %s", node.uid, error)
        return None
    return beat if beat.node == node.uid else None


def _apply(node: Node, beat: Heartbeat, now: datetime) -> None:
    held = {alive.attempt for alive in beat.attempts}
    # On the server's clock, as far as the offset is known: a word from before an order is no answer to it.
    said_at = datetime.fromtimestamp(beat.at, UTC) + timedelta(seconds=beat.clock_offset or 0.0)
    missing = compare(node, held, said_at, node.vitals.get("missing", {}))
    fields: dict[str, Any] = {
        "inventory": msgspec.to_builtins(beat.inventory),
        "vitals": {
            "at": beat.at,
            "cpu": beat.cpu,
            "memory_used": beat.memory_used,
            "dirty": beat.dirty,
            "trouble": beat.trouble,
            "attempts": [msgspec.to_builtins(alive) for alive in beat.attempts],
            "missing": missing,
        },
        "address": beat.inventory.address[:255],
        "agent_version": beat.inventory.agent_version[:40],
        "clock_offset": beat.clock_offset,
        "clock_error": beat.clock_error,
        "last_heard": now,
    }
    _note_counts(node, beat)
    Node.objects.filter(pk=node.pk, removed_at=None).update(**fields)
    if not node.attached_as and update_slots(node, beat.inventory.slots):
        hint(PLACE)


def _note_counts(node: Node, beat: Heartbeat) -> None:
    """How far each rank and its node are, where that is news."""
    before = {alive["attempt"]: (alive.get("made"), alive.get("taken")) for alive in node.vitals.get("attempts", ())}
    for alive in beat.attempts:
        made, taken = ({str(rank): count for rank, count in of.items()} for of in (alive.made, alive.taken))
        if made and before.get(alive.attempt) != (made, taken):
            note_counts(node, alive.attempt, alive.made, alive.taken)


def _note_processes() -> None:
    """An attempt's processes live as far as the most silent of its nodes has said so."""
    parts = AttemptNode.objects.filter(attempt__status__in=PLACED, finished_at=None).select_related("node")
    oldest: dict[int, datetime | None] = {}
    for part in parts:
        heard = _lives_at(part)
        known = oldest.get(part.attempt_id, heard)
        oldest[part.attempt_id] = None if heard is None or known is None else min(heard, known)
    for attempt, at in oldest.items():
        if at is not None:
            note_process(attempt, at)


def _lives_at(part: AttemptNode) -> datetime | None:
    if part.node is None:
        return None
    for alive in part.node.vitals.get("attempts", ()):
        if alive["attempt"] == part.attempt_id and alive.get("ranks"):
            return part.node.last_heard
    return None
