"""Stream entries of one part in the order in which they are to be applied. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from trainer_agent.wire import codec
from trainer_agent.wire.messages import Batch
from webapp.telemetry.points import BadContent, Points, explode, explode_all
from webapp.telemetry.units import is_of_nodes

_MOST_KNOWN = 16


@dataclass(frozen=True, slots=True)
class Item:
    """One message. With a `reason` it cannot be applied and is parked; `seq` None: not even its place is known."""

    seq: int | None
    raw: bytes
    batch: Batch | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sender:
    """What a part may speak of. `known`: columns of ranks that are in order; most messages have the same ones."""

    attempt: int
    node: str
    node_rank: int
    ranks: frozenset[int]
    known: set[bytes] = field(default_factory=set)


def read(raw: bytes, sender: Sender) -> Item:
    """Decode and check one message."""
    try:
        batch = codec.decode_batch(raw)
    except codec.BadMessage as error:
        return Item(_seq_of(raw), raw, reason=str(error))
    if (batch.attempt, batch.node) != (sender.attempt, sender.node):
        return Item(batch.seq, raw, reason=f"about attempt {batch.attempt} of node {batch.node[:40]}")
    try:
        _check_ranks(batch, sender)
    except BadContent as error:
        return Item(batch.seq, raw, reason=str(error))
    return Item(batch.seq, raw, batch)


def points_of(items: list[Item]) -> tuple[list[Item], list[Points]]:
    """The points of all items together; those that are bad come back with a reason."""
    try:
        return items, explode_all(item.batch for item in items if item.batch is not None)
    except BadContent:
        checked = [_checked(item) for item in items]
        return checked, explode_all(item.batch for item in checked if item.batch is not None)


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


def _checked(item: Item) -> Item:
    if item.batch is None:
        return item
    try:
        explode(item.batch)
    except BadContent as error:
        return Item(item.seq, item.raw, reason=str(error))
    return item


def _check_ranks(batch: Batch, sender: Sender) -> None:
    for name, ranks, allowed in _columns_of_ranks(batch, sender):
        if allowed is sender.ranks and ranks in sender.known:
            continue
        if len(ranks) % 4:
            raise BadContent(f"{name[:80]}: {len(ranks)} bytes of ranks")
        strange = set(memoryview(ranks).cast("I")) - allowed
        if strange:
            raise BadContent(f"{name[:80]}: rank {min(strange)} is not of this node")
        if allowed is sender.ranks:
            _remember(ranks, sender.known)
    for log in batch.logs:
        if log.rank != -1 and log.rank not in sender.ranks:
            raise BadContent(f"log of rank {log.rank}, which is not of this node")
        if log.offset < 0:
            raise BadContent(f"log at offset {log.offset}")


def _remember(ranks: bytes, known: set[bytes]) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known.add(ranks)


def _columns_of_ranks(batch: Batch, sender: Sender) -> Iterator[tuple[str, bytes, frozenset[int]]]:
    for steps in batch.steps:
        yield "records", steps.rank, sender.ranks
    for values in batch.values:
        yield values.key, values.rank, sender.ranks
    of_node = frozenset({sender.node_rank})
    for samples in batch.samples:
        yield samples.metric, samples.rank, of_node if is_of_nodes(samples.metric) else sender.ranks


def _seq_of(raw: bytes) -> int | None:
    """The place of a message that is otherwise unreadable."""
    try:
        content: Any = msgspec.msgpack.decode(codec.inflated(raw))
    except (codec.BadMessage, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    seq = content.get("seq") if isinstance(content, dict) else None
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else None
