"""Log bytes and lines as they were stored, from any point on."""

import json
from collections.abc import Iterator

import zstandard
from django.db.models import QuerySet

from webapp.runs.models import Attempt
from webapp.telemetry.models import LogChunk

LOOK_BACK = 1 << 20  # bytes of an unfinished line that are looked up again


def end_of(attempt: Attempt, rank: int) -> int:
    """Offset after the last stored byte of a rank's log."""
    last = _chunks(attempt, rank).order_by("-offset").defer("payload").first()
    return last.offset + last.length if last else 0


def raw(attempt: Attempt, rank: int, after: int, end: int) -> Iterator[bytes]:
    """Stored bytes in [after, end)."""
    for chunk in _chunks(attempt, rank).filter(offset__gte=_start(attempt, rank, after), offset__lt=end).iterator(16):
        data = _bytes(chunk)
        yield data[max(0, after - chunk.offset) : end - chunk.offset]


def json_lines(attempt: Attempt, after: int, whole: bool) -> Iterator[bytes]:
    """Lines of all ranks in the order of their arrival, one JSON object each: `{rank, at, text, cursor}`.

    Only lines that end in a chunk with a number above `after`. A last line without its end comes when `whole`.
    """
    open_lines: dict[int, bytes] = {}
    last: LogChunk | None = None
    for chunk in attempt.logs.filter(pk__gt=after).order_by("pk").iterator(64):
        begun = open_lines.pop(chunk.rank, None)
        if begun is None:
            begun = _begun_before(attempt, chunk) if after else b""
        *lines, open_lines[chunk.rank] = (begun + _bytes(chunk)).split(b"\n")
        last = chunk
        for line in lines:
            yield _line(chunk, chunk.rank, line)
    if whole and last is not None:
        for rank, line in sorted(open_lines.items()):
            if line:
                yield _line(last, rank, line)


def _chunks(attempt: Attempt, rank: int) -> QuerySet[LogChunk]:
    return attempt.logs.filter(rank=rank).order_by("offset")


def _start(attempt: Attempt, rank: int, after: int) -> int:
    """Offset of the chunk in which `after` lies."""
    chunk = _chunks(attempt, rank).filter(offset__lte=after).order_by("-offset").defer("payload").first()
    return chunk.offset if chunk else 0


def _begun_before(attempt: Attempt, chunk: LogChunk) -> bytes:
    """The part of a chunk's first line that earlier chunks hold."""
    begun = b""
    for earlier in _chunks(attempt, chunk.rank).filter(offset__lt=chunk.offset).order_by("-offset").iterator(4):
        head, newline, rest = _bytes(earlier).rpartition(b"\n")
        begun = (rest if newline else head + rest) + begun
        if newline or len(begun) > LOOK_BACK:
            break
    return begun


def _bytes(chunk: LogChunk) -> bytes:
    return zstandard.ZstdDecompressor().decompress(bytes(chunk.payload), max_output_size=chunk.length)


def _line(chunk: LogChunk, rank: int, line: bytes) -> bytes:
    text = line.decode("utf-8", "replace").removesuffix("\r")
    return json.dumps({"rank": rank, "at": chunk.at.isoformat(), "text": text, "cursor": chunk.pk}).encode() + b"\n"
