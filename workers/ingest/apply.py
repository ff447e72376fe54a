"""Messages of one attempt into the database, exactly once: one transaction, which also moves `applied_seq`.

What the transaction wrote is told by its result; nothing in memory changes before the commit.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Max

from trainer_agent.wire import codec
from trainer_agent.wire.messages import Batch, LogBytes
from webapp.runs.attached import MOST_RANKS
from webapp.runs.lifecycle import apply_event
from webapp.runs.models import Attempt, AttemptNode, RankState
from webapp.telemetry import logs
from webapp.telemetry.models import LogChunk, Tail
from webapp.telemetry.points import Points
from workers.ingest.lease import LostLease, hold
from workers.ingest.parking import park
from workers.ingest.received import Item, Sender, in_order, read

log = logging.getLogger(__name__)

DATABASE_AWAY = (OperationalError, InterfaceError)  # locked, full, restarting: try again, acknowledge nothing
_ANY_RANK = frozenset(range(MOST_RANKS))


@dataclass(slots=True)
class Applied:
    """What was committed."""

    seqs: dict[str, int] = field(default_factory=dict)  # node -> applied_seq
    points: list[Points] = field(default_factory=list)
    log_ends: dict[int, int] = field(default_factory=dict)  # rank -> length
    tails: int = 0
    finished: bool = False
    first_step: int | None = None  # of the attempt, if an event may have moved it


def apply(attempt: Attempt, holder: str, received: dict[str, list[bytes]]) -> Applied:
    """Apply each node's messages as far as they follow on what is there. LostLease, or DATABASE_AWAY to try again."""
    try:
        with transaction.atomic():
            return _apply_all(attempt, holder, received)
    except (LostLease, *DATABASE_AWAY):
        raise
    except Exception:
        log.exception("attempt %s: a message could not be applied; going on one by one", attempt.pk)
        return _one_by_one(attempt, holder, received)


def _apply_all(attempt: Attempt, holder: str, received: dict[str, list[bytes]]) -> Applied:
    hold(attempt, holder)
    done = Applied()
    for part in _parts(attempt, received):
        items = in_order(_items(attempt, part, received[part.node_uid]), part.applied_seq)
        _store(attempt, part, items, done)
    return done


def _one_by_one(attempt: Attempt, holder: str, received: dict[str, list[bytes]]) -> Applied:
    done = Applied()
    for part in _parts(attempt, received):
        for item in in_order(_items(attempt, part, received[part.node_uid]), part.applied_seq):
            _apply_one(attempt, holder, part, item, done)
    return done


def _apply_one(attempt: Attempt, holder: str, part: AttemptNode, item: Item, done: Applied) -> None:
    mine = Applied()
    try:
        with transaction.atomic():
            hold(attempt, holder)
            _store(attempt, part, [item], mine)
    except (LostLease, *DATABASE_AWAY):
        raise
    except Exception as error:
        log.exception("attempt %s: message %s of %s is parked", attempt.pk, item.seq, part.node_uid)
        mine = Applied()
        with transaction.atomic():
            hold(attempt, holder)
            reason = "database" if isinstance(error, DatabaseError) else "content"
            _store(attempt, part, [Item(item.seq, item.raw, reason=f"{reason}: {error}")], mine)
    done.seqs |= mine.seqs
    done.points += mine.points
    done.log_ends |= mine.log_ends
    done.tails += mine.tails
    done.finished |= mine.finished
    done.first_step = done.first_step if mine.first_step is None else mine.first_step


def _parts(attempt: Attempt, received: dict[str, list[bytes]]) -> list[AttemptNode]:
    rows = AttemptNode.objects.filter(attempt=attempt, node_uid__in=list(received)).select_related("node")
    return list(rows.order_by("node_rank"))


def _items(attempt: Attempt, part: AttemptNode, messages: list[bytes]) -> list[Item]:
    sender = Sender(attempt.pk, part.node_uid, part.node_rank, _ranks_of(attempt, part))
    return [read(message, sender) for message in messages]


def _ranks_of(attempt: Attempt, part: AttemptNode) -> frozenset[int]:
    """The ranks of which a part may speak: its own, but of an attached launch any, since its launcher numbers them."""
    if attempt.run.is_attached:
        return _ANY_RANK
    rows = RankState.objects.filter(attempt=attempt, node_rank=part.node_rank)
    return frozenset(rows.values_list("rank", flat=True))


def _store(attempt: Attempt, part: AttemptNode, items: Sequence[Item], done: Applied) -> None:
    tails: list[Tail] = []
    chunks: list[LogBytes] = []
    for item in items:
        if item.reason or item.batch is None:
            park(attempt, part.node_uid, item)
            continue
        done.points += item.points
        chunks += item.batch.logs
        if item.points:
            payload = codec.encode(msgspec.structs.replace(item.batch, events=[], logs=[]))
            tails.append(Tail(attempt=attempt, node_rank=part.node_rank, seq=item.batch.seq, payload=payload))
    Tail.objects.bulk_create(tails)
    done.tails += len(tails)
    done.log_ends |= _store_logs(attempt, part, chunks)
    for item in items:
        if item.batch is not None:
            _tell(part, item.batch, done)
    reached = max((item.seq for item in items if item.seq is not None), default=part.applied_seq)
    AttemptNode.objects.filter(pk=part.pk).update(applied_seq=reached)
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
