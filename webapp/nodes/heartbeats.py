"""What nodes say every two seconds, written to rows: who lives, what it has, which attempts it holds."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction

from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import Heartbeat
from webapp.nodes.holdings import Books, compare
from webapp.nodes.inventory import shape_of, shapes, update_slots
from webapp.nodes.models import Node
from webapp.queue import PLACE, hint
from webapp.redis import connection
from webapp.runs.counts import Counts, note_counts
from webapp.runs.facts import note_process
from webapp.runs.models import AttemptNode
from webapp.runs.state import PLACED

log = logging.getLogger(__name__)


def read(now: datetime) -> int:
    """Copy every new heartbeat to its rows; how many were new. RedisError when there is nothing to read from.

    Nodes that say what the rows say, as nearly all do, are written together; the others one by one.
    """
    said = _new_words()
    if said:
        books = Books.read(alive.attempt for _node, beat in said for alive in beat.attempts)
        agree = [(node, beat) for node, beat in said if books.agree(node.pk, _held(beat))]
        others = [(node, beat) for node, beat in said if not books.agree(node.pk, _held(beat))]
        with transaction.atomic():
            note_counts(_news_of_counts(said))
            for node, beat in agree:
                _write(node, beat, {}, now)
        for node, beat in others:
            with transaction.atomic():
                _write(node, beat, _compared(node, beat), now)
        _update_slots(said)
    _note_processes()
    return len(said)


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


def _new_words() -> list[tuple[Node, Heartbeat]]:
    """Nodes with the heartbeats that are not in their rows yet."""
    nodes = list(Node.objects.filter(removed_at=None))
    raw = connection().mget([names.heartbeat(node.uid) for node in nodes]) if nodes else []
    beats = [(node, _decode(node, data)) for node, data in zip(nodes, raw, strict=True)]
    return [(node, beat) for node, beat in beats if beat is not None and beat.at != node.vitals.get("at")]


def _decode(node: Node, data: bytes | str | None) -> Heartbeat | None:
    if not isinstance(data, bytes):
        return None
    try:
        beat = codec.decode_heartbeat(data)
    except codec.BadMessage as error:
        log.warning("heartbeat of %s cannot be read: %s", node.uid, error)
        return None
    return beat if beat.node == node.uid else None


def _held(beat: Heartbeat) -> set[int]:
    return {alive.attempt for alive in beat.attempts}


def _compared(node: Node, beat: Heartbeat) -> dict[str, float]:
    # On the server's clock, as far as the offset is known: a word from before an order is no answer to it.
    said_at = datetime.fromtimestamp(beat.at, UTC) + timedelta(seconds=beat.clock_offset or 0.0)
    return compare(node, _held(beat), said_at, node.vitals.get("missing", {}))


def _write(node: Node, beat: Heartbeat, missing: dict[str, float], now: datetime) -> None:
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
    Node.objects.filter(pk=node.pk, removed_at=None).update(**fields)


def _update_slots(said: list[tuple[Node, Heartbeat]]) -> None:
    known = shapes()
    for node, beat in said:
        slots = beat.inventory.slots
        if not node.attached_as and known.get(node.pk, {}) != shape_of(slots):
            with transaction.atomic():
                changed = update_slots(node, slots)
            if changed:
                hint(PLACE)


def _news_of_counts(said: list[tuple[Node, Heartbeat]]) -> list[Counts]:
    """How far the ranks of each node are, where that is news."""
    found = []
    for node, beat in said:
        before = {
            alive["attempt"]: (alive.get("made"), alive.get("taken")) for alive in node.vitals.get("attempts", ())
        }
        for alive in beat.attempts:
            made, taken = ({str(rank): count for rank, count in of.items()} for of in (alive.made, alive.taken))
            if made and before.get(alive.attempt) != (made, taken):
                found.append(Counts(node.pk, alive.attempt, alive.made, alive.taken))
    return found


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
