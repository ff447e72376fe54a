"""Messages of one attempt into the database, exactly once: one transaction, which also moves `applied_seq`.

What the transaction wrote is told by its result; nothing in memory changes before the commit.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter

import msgspec
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Max

from trainer_agent.wire import codec
from trainer_agent.wire.messages import Batch, LogBytes
from webapp.runs.lifecycle import apply_event
from webapp.runs.models import Attempt, AttemptNode, RankState
from webapp.telemetry import bundle, logs
from webapp.telemetry.models import LogChunk, Tail
from webapp.telemetry.points import Points
from workers.ingest.lease import LostLease, hold
from workers.ingest.parking import park
from workers.ingest.received import Item, in_order, points_of, read
from workers.ingest.senders import Senders

log = logging.getLogger(__name__)

DATABASE_AWAY = (OperationalError, InterfaceError)  # locked, full, restarting: try again, acknowledge nothing


@dataclass(slots=True)
class Applied:
    """What was committed."""

    seqs: dict[str, int] = field(default_factory=dict)  # node -> applied_seq
    points: list[Points] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)  # that have points
    log_ends: dict[int, int] = field(default_factory=dict)  # rank -> length
    tails: list[int] = field(default_factory=list)  # their keys
    finished: bool = False
    first_step: int | None = None  # of the attempt, if an event may have moved it


def apply(attempt: Attempt, holder: str, senders: Senders, received: dict[str, list[bytes]]) -> Applied:
    """Apply each node's messages as far as they follow on what is there. LostLease, or DATABASE_AWAY to try again."""
    try:
        with transaction.atomic():
            return _apply_all(attempt, holder, senders, received)
    except (LostLease, *DATABASE_AWAY):
        raise
    except Exception:
        log.exception("attempt %s: a message could not be applied; going on one by one", attempt.pk)
        return _one_by_one(attempt, holder, senders, received)


def _apply_all(attempt: Attempt, holder: str, senders: Senders, received: dict[str, list[bytes]]) -> Applied:
    hold(attempt, holder)
    following = _in_order(attempt, senders, received)
    found = [(part, item) for part, items in following for item in items]
    checked, points = points_of([item for _part, item in found])
    done = Applied({part.node_uid: part.applied_seq for part, _items in following}, points)
    _store(attempt, [(part, item) for (part, _raw), item in zip(found, checked, strict=True)], done)
    return done


def _one_by_one(attempt: Attempt, holder: str, senders: Senders, received: dict[str, list[bytes]]) -> Applied:
    done = Applied()
    for part, items in _in_order(attempt, senders, received):
        done.seqs[part.node_uid] = part.applied_seq
        for item in items:
            _apply_one(attempt, holder, part, item, done)
    return done


def _apply_one(attempt: Attempt, holder: str, part: AttemptNode, item: Item, done: Applied) -> None:
    mine = Applied()
    try:
        with transaction.atomic():
            hold(attempt, holder)
            [item], mine.points = points_of([item])
            _store(attempt, [(part, item)], mine)
    except (LostLease, *DATABASE_AWAY):
        raise
    except Exception as error:
        log.exception("attempt %s: message %s of %s is parked", attempt.pk, item.seq, part.node_uid)
        mine = Applied()
        with transaction.atomic():
            hold(attempt, holder)
            reason = "database" if isinstance(error, DatabaseError) else "content"
            _store(attempt, [(part, Item(item.seq, item.raw, reason=f"{reason}: {error}"))], mine)
    done.seqs |= mine.seqs
    done.points += mine.points
    done.log_ends |= mine.log_ends
    done.batches += mine.batches
    done.tails += mine.tails
    done.finished |= mine.finished
    done.first_step = done.first_step if mine.first_step is None else mine.first_step


def _in_order(
    attempt: Attempt, senders: Senders, received: dict[str, list[bytes]]
) -> list[tuple[AttemptNode, list[Item]]]:
    parts = AttemptNode.objects.filter(attempt=attempt, node_uid__in=list(received)).order_by("node_rank")
    found = []
    for part in parts.only("attempt_id", "node_uid", "node_rank", "applied_seq"):
        sender = senders.of(part.node_uid)
        items = [read(message, sender) for message in received[part.node_uid]]
        found.append((part, in_order(items, part.applied_seq)))
    return found


def _store(attempt: Attempt, found: Sequence[tuple[AttemptNode, Item]], done: Applied) -> None:
    """Items of one or more parts, those of each in their order."""
    young: list[tuple[int, int, bytes]] = []
    for part, item in found:
        if item.batch is None:
            park(attempt, part.node_uid, item)
        elif item.batch.steps or item.batch.values or item.batch.samples:
            done.batches.append(item.batch)
            young.append((part.node_rank, item.batch.seq, _payload(item)))
    done.tails += _store_tails(attempt, young)
    for part, items in groupby(found, itemgetter(0)):
        _store_the_rest(attempt, part, [item for _part, item in items], done)
    reached = [(part.applied_seq, part.pk) for part in {part.pk: part for part, _item in found}.values()]
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {AttemptNode._meta.db_table} SET applied_seq = %s WHERE id = %s", reached)  # noqa: S608


def _store_tails(attempt: Attempt, young: Sequence[tuple[int, int, bytes]]) -> list[int]:
    """Messages as (node rank, seq, payload) into as few rows as they fit in; their keys."""
    tails, stored = [], 0
    for payload, count in bundle.bundles([payload for _node_rank, _seq, payload in young]):
        node_rank, seq, _first = young[stored]
        tails.append(Tail(attempt=attempt, node_rank=node_rank, seq=seq, payload=payload))
        stored += count
    return [tail.pk for tail in Tail.objects.bulk_create(tails)]


def _payload(item: Item) -> bytes:
    """The message as it came, without what is kept elsewhere."""
    assert item.batch is not None
    if not item.batch.events and not item.batch.logs:
        return item.raw
    return codec.encode(msgspec.structs.replace(item.batch, events=[], logs=[]))


def _store_the_rest(attempt: Attempt, part: AttemptNode, items: Sequence[Item], done: Applied) -> None:
    batches = [item.batch for item in items if item.batch is not None]
    done.log_ends |= _store_logs(attempt, part, [piece for batch in batches for piece in batch.logs])
    for batch in batches:
        _tell(part, batch, done)
    reached = max((item.seq for item in items if item.seq is not None), default=part.applied_seq)
    part.applied_seq = done.seqs[part.node_uid] = reached


def _tell(part: AttemptNode, batch: Batch, done: Applied) -> None:
    for event in batch.events:
        apply_event(part, event)
        done.finished |= event.kind == "finished"
        if event.kind == "rank_facts":
            done.first_step = part.attempt.first_step


def _store_logs(attempt: Attempt, part: AttemptNode, pieces: list[LogBytes]) -> dict[int, int]:
    if not pieces:
        return {}
    ranks = {_log_rank(piece, part) for piece in pieces}
    known = LogChunk.objects.filter(attempt=attempt, rank__in=ranks).order_by().values_list("rank")
    ends: dict[int, int] = dict(known.annotate(end=Max(F("offset") + F("length"))))
    rows: list[LogChunk] = []
    for piece in pieces:
        rank, end = _log_rank(piece, part), piece.offset + len(piece.data)
        again = max(0, ends.get(rank, 0) - piece.offset)  # bytes that are there already
        fresh = piece.data[again:]
        if fresh:
            skipped = 0 if again else piece.skipped_lines
            rows += logs.chunks_of(attempt, rank, piece.offset + again, fresh, _time(piece.at), skipped_lines=skipped)
            ends[rank] = end
    LogChunk.objects.bulk_create(rows)
    for rank in sorted(rank for rank in ranks if rank >= 0):
        RankState.objects.filter(attempt=attempt, rank=rank).update(log_bytes=ends.get(rank, 0))
    return {rank: ends.get(rank, 0) for rank in ranks}


def _log_rank(piece: LogBytes, part: AttemptNode) -> int:
    return piece.rank if piece.rank >= 0 else logs.launcher(part.node_rank)


def _time(at: float) -> datetime:
    try:
        return datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.now(UTC)
