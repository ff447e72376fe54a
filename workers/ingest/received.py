"""Stream entries of one part in the order in which they are to be applied. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from trainer_agent.wire import codec
from trainer_agent.wire.messages import Batch
from webapp.telemetry.points import BadContent, Points, explode


@dataclass(frozen=True, slots=True)
class Item:
    """One message. With a `reason` it cannot be applied and is parked; `seq` None: not even its place is known."""

    seq: int | None
    raw: bytes
    batch: Batch | None = None
    points: tuple[Points, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sender:
    """What a part may speak of."""

    attempt: int
    node: str
    node_rank: int
    ranks: frozenset[int]


def read(raw: bytes, sender: Sender) -> Item:
    """Decode and check one message."""
    try:
        batch = codec.decode_batch(raw)
    except codec.BadMessage as error:
        return Item(_seq_of(raw), raw, reason=str(error))
    if (batch.attempt, batch.node) != (sender.attempt, sender.node):
        return Item(batch.seq, raw, reason=f"about attempt {batch.attempt} of node {batch.node[:40]}")
    try:
        points = tuple(explode(batch))
        _check_ranks(batch, points, sender)
    except BadContent as error:
        return Item(batch.seq, raw, reason=str(error))
    return Item(batch.seq, raw, batch, points)


def in_order(items: Iterable[Item], applied: int) -> list[Item]:
    """The items that come next, without duplicates and what lies behind a gap; those without a place are kept.

    An unreadable item between seq - 1 and seq + 1 has that place.
    """
    placed = _placed(list(items), applied)
    by_seq = {item.seq: item for item in placed if item.seq is not None}
    found = [item for item in placed if item.seq is None]
    while (item := by_seq.get(applied + 1)) is not None:
        found.append(item)
        applied += 1
    return found


def _placed(items: list[Item], applied: int) -> list[Item]:
    found: list[Item] = []
    before = applied
    for k, as_read in enumerate(items):
        following = items[k + 1].seq if k + 1 < len(items) else None
        between = as_read.seq is None and following == before + 2
        item = replace(as_read, seq=before + 1) if between else as_read
        if item.seq is not None:
            before = item.seq
        found.append(item)
    return found


def _check_ranks(batch: Batch, points: tuple[Points, ...], sender: Sender) -> None:
    for part in points:
        allowed = {sender.node_rank} if part.columns == "node" else sender.ranks
        strange = set(part.rank.tolist()) - allowed
        if strange:
            raise BadContent(f"{part.name[:80]}: rank {min(strange)} is not of this node")
    for log in batch.logs:
        if log.rank != -1 and log.rank not in sender.ranks:
            raise BadContent(f"log of rank {log.rank}, which is not of this node")
        if log.offset < 0:
            raise BadContent(f"log at offset {log.offset}")


def _seq_of(raw: bytes) -> int | None:
    """The place of a message that is otherwise unreadable."""
    try:
        content: Any = msgspec.msgpack.decode(codec.inflated(raw))
    except (codec.BadMessage, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    seq = content.get("seq") if isinstance(content, dict) else None
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else None
