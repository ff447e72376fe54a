"""Log bytes and lines as they were stored, from any point on."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from django.db.models import QuerySet

from webapp.runs.models import Attempt
from webapp.telemetry.log_fold import Line
from webapp.telemetry.log_holes import holes
from webapp.telemetry.log_lines import assemble, begun_before, bytes_of
from webapp.telemetry.models import LogChunk

CHUNKS_AT_ONCE = 64


def end_of(attempt: Attempt, rank: int) -> int:
    """Offset after the last stored byte of a rank's log."""
    last = _chunks(attempt, rank).order_by("-offset").defer("payload").first()
    return last.offset + last.length if last else 0


def raw(attempt: Attempt, rank: int, after: int, end: int) -> Iterator[bytes]:
    """Stored bytes in [after, end), and a line in place of what the node left out."""
    missing = holes(attempt, rank)
    for chunk in _chunks(attempt, rank).filter(offset__gte=_start(attempt, rank, after), offset__lt=end).iterator(16):
        if chunk.offset >= after:
            yield missing.get(chunk.offset, b"")
        yield bytes_of(chunk)[max(0, after - chunk.offset) : end - chunk.offset]


def json_lines(attempt: Attempt, after: int, whole: bool) -> Iterator[bytes]:
    """Lines of all ranks in the order of their arrival, one JSON object each: `{rank, at, text, cursor}`.

    Only lines that end in a chunk with a number above `after`; with `whole` also a rank's last line without its end.
    """
    last: dict[int, LogChunk] = {}
    while window := list(attempt.logs.filter(pk__gt=after).order_by("pk")[:CHUNKS_AT_ONCE]):
        after = window[-1].pk
        by_rank: dict[int, list[LogChunk]] = {}
        for chunk in window:
            by_rank.setdefault(chunk.rank, []).append(chunk)
            last[chunk.rank] = chunk
        yield from _encoded(line for chunks in by_rank.values() for line in _complete(attempt, chunks))
    if whole:
        yield from _encoded(line for chunk in last.values() for line in _unfinished(attempt, chunk))


def _complete(attempt: Attempt, chunks: list[LogChunk]) -> list[Line]:
    return assemble(chunks[0].rank, chunks, begun_before(attempt, chunks[0]), whole=False, ended=False)


def _unfinished(attempt: Attempt, chunk: LogChunk) -> list[Line]:
    """The last line of a rank whose last chunk this is, if it has no end."""
    found = assemble(chunk.rank, [chunk], begun_before(attempt, chunk), whole=True, ended=True)
    return [line for line in found if not line.kind][chunk.lines :]


def _encoded(lines: Iterator[Line]) -> Iterator[bytes]:
    for line in sorted(lines, key=lambda line: line.chunk):
        at = datetime.fromtimestamp(line.at, UTC).isoformat()
        yield json.dumps({"rank": line.rank, "at": at, "text": line.text, "cursor": line.chunk}).encode() + b"\n"


def _chunks(attempt: Attempt, rank: int) -> QuerySet[LogChunk]:
    return attempt.logs.filter(rank=rank).order_by("offset")


def _start(attempt: Attempt, rank: int, after: int) -> int:
    """Offset of the chunk in which `after` lies."""
    chunk = _chunks(attempt, rank).filter(offset__lte=after).order_by("-offset").defer("payload").first()
    return chunk.offset if chunk else 0
