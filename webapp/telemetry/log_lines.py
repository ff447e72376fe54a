"""Chunks of bytes to lines for display: any bytes, any length, colours and progress bars of terminals included."""

import re

import zstandard
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from webapp.runs.models import Attempt
from webapp.telemetry.log_fold import Line
from webapp.telemetry.log_holes import sentence
from webapp.telemetry.models import LogChunk

SHOWN = 4_000  # characters of a line
_KEPT = 4 * SHOWN  # bytes that these characters can take
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def begun_before(attempt: Attempt, first: LogChunk) -> tuple[bytes, int]:
    """The start of the line in which a chunk begins, from earlier chunks: its first bytes, and its length so far."""
    earlier = LogChunk.objects.filter(attempt=attempt, rank=first.rank, offset__lt=first.offset).order_by("-offset")
    ender = earlier.filter(lines__gt=0).first()
    before = earlier.defer("payload").first()
    if first.skipped_lines or before is None or before.offset + before.length < first.offset:
        return b"", 0
    start = 0
    head = b""
    if ender is not None:
        head = bytes_of(ender).rpartition(b"\n")[2]
        start = ender.offset + ender.length - len(head)
    after = ender.offset if ender is not None else -1
    for chunk in earlier.filter(offset__gt=after).order_by("offset")[: _KEPT // 1024 + 1]:
        if len(head) >= _KEPT:
            break
        head += bytes_of(chunk)
    return head[:_KEPT], first.offset - start


def assemble(rank: int, chunks: list[LogChunk], begun: tuple[bytes, int], whole: bool, ended: bool) -> list[Line]:
    """Lines that end in a rank's chunks, which follow each other but for what its node left out. `begun`: see above.

    `whole`: with the unfinished last line, if the rank has ended or draws a progress bar.
    """
    found: list[Line] = []
    head, length = begun
    for chunk in chunks:
        if chunk.skipped_lines:
            if head:
                found.append(_line(rank, chunk, head, length))
                head, length = b"", 0
            said = sentence(chunk.attempt_id, rank, chunk.skipped_lines)
            found.append(Line(rank, chunk.at.timestamp(), said, chunk.pk, kind="skipped"))
        *full, rest = bytes_of(chunk).split(b"\n")
        for line in full:
            found.append(_line(rank, chunk, head + line, length + len(line)))
            head, length = b"", 0
        head, length = (head + rest)[:_KEPT], length + len(rest)
    if whole and head and (ended or b"\r" in head):
        found.append(_line(rank, chunks[-1], head, length))
    return found


def bytes_of(chunk: LogChunk) -> bytes:
    """The bytes that a chunk holds."""
    return zstandard.ZstdDecompressor().decompress(bytes(chunk.payload), max_output_size=chunk.length)


def _line(rank: int, chunk: LogChunk, head: bytes, length: int) -> Line:
    text = shown(head[:_KEPT])
    if length > _KEPT or len(text) > SHOWN:
        text = text[:SHOWN] + _("… %s bytes, in the raw log") % number_format(length, 0, force_grouping=True)
    return Line(rank, chunk.at.timestamp(), text, chunk.pk)


def shown(data: bytes) -> str:
    """What a terminal would show in the end: last state of a progress bar, no colours, no control characters."""
    text = data.removesuffix(b"\r").decode("utf-8", "replace")
    text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = next((part for part in reversed(text.split("\r")) if part.strip()), "")
    return _CONTROL.sub("", text)
