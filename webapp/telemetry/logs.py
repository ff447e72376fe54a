"""Logs of an attempt: stored and given back byte by byte, and as lines for people.

    raw(attempt, rank) -> the bytes as the rank wrote them, a line in place of what its node left out
    lines(attempt, rank=None, query="", after=None, before=None, limit=500) -> one page of folded lines

Rank -1 is the launcher of the first node, -2 that of the second, and so on. A page covers whole chunks; its cursors
are chunk ids: `after` asks for what came since, `before` for what came earlier.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import zstandard
from django.db.models import QuerySet, Sum
from django.utils.translation import gettext as _

from webapp.runs.models import Attempt, RankState
from webapp.telemetry.log_fold import Line, fold
from webapp.telemetry.log_holes import holes
from webapp.telemetry.log_lines import assemble, begun_before, bytes_of
from webapp.telemetry.log_search import BadPattern, Search, TooSlow, search_for
from webapp.telemetry.models import LogChunk

CHUNK_BYTES = 64 * 1024
LAUNCHER = -1
_MOST_SCANNED = 400  # chunks of one search page; the rest is the next page


def launcher(node_rank: int) -> int:
    """Under which rank the launcher's log of a node is kept."""
    return LAUNCHER - node_rank


def chunks_of(
    attempt: Attempt, rank: int, offset: int, data: bytes, at: datetime, *, skipped_lines: int = 0
) -> list[LogChunk]:
    """Unsaved rows for bytes of one rank's log. `skipped_lines`: left out by the node just before these bytes."""
    compress = zstandard.ZstdCompressor(level=1).compress
    parts = [(at_byte, data[at_byte : at_byte + CHUNK_BYTES]) for at_byte in range(0, len(data), CHUNK_BYTES)]
    return [
        LogChunk(
            attempt=attempt,
            rank=rank,
            offset=offset + at_byte,
            length=len(part),
            lines=part.count(b"\n"),
            skipped_lines=0 if at_byte else skipped_lines,
            at=at,
            payload=compress(part),
        )
        for at_byte, part in parts
    ]


def raw(attempt: Attempt, rank: int) -> Iterator[bytes]:
    """The bytes of one rank's log, in order, as they were written; a line says what is missing where."""
    missing = holes(attempt, rank)
    for chunk in LogChunk.objects.filter(attempt=attempt, rank=rank).order_by("offset").iterator(16):
        if chunk.offset in missing:
            yield missing[chunk.offset]
        yield bytes_of(chunk)


def sizes(attempt: Attempt) -> dict[int, int]:
    """Rank to the length of what `raw` gives."""
    stored = LogChunk.objects.filter(attempt=attempt).order_by("rank").values_list("rank").annotate(Sum("length"))
    return {rank: size + sum(map(len, holes(attempt, rank).values())) for rank, size in list(stored)}


def lines(
    attempt: Attempt,
    rank: int | None = None,
    *,
    query: str = "",
    after: int | None = None,
    before: int | None = None,
    limit: int = 500,
) -> dict[str, Any]:
    """About `limit` lines, oldest first: the newest, or those after or before a cursor.

    `{lines: [{at, ranks, text, level, kind, count, lines: [[rank, text], …]}], after, before, more, error}`; `before`
    is None when nothing is earlier, `more`: there is more after these. `query`: text, or `/pattern/`. `kind` is
    `skipped` for a line of ours that stands for what a node left out.
    """
    chunks = LogChunk.objects.filter(attempt=attempt)
    if rank is not None:
        chunks = chunks.filter(rank__lte=LAUNCHER) if rank == LAUNCHER else chunks.filter(rank=rank)
    try:
        with search_for(query) as search:
            return _page(attempt, chunks, search, _Place(after, before, limit))
    except BadPattern as error:
        return _refused(_("This pattern cannot be read: %s") % error)
    except TooSlow:
        return _refused(_("This pattern takes too long. Make it simpler or search for plain text."))


@dataclass(frozen=True, slots=True)
class _Place:
    """Which page: after or before a chunk, or the newest."""

    after: int | None
    before: int | None
    limit: int


def _page(attempt: Attempt, chunks: QuerySet[LogChunk], search: Search, place: _Place) -> dict[str, Any]:
    taken: list[LogChunk] = []
    found: list[Line] = []
    forward = place.after is not None
    while len(found) < place.limit and len(taken) < _MOST_SCANNED:
        window = _next(chunks, taken, place, place.limit - len(found))
        if not window:
            break
        newest = not forward and not taken and place.before is None
        fresh = search.filter(_lines_of(attempt, window, whole=newest))
        found = found + fresh if forward else fresh + found
        taken = taken + window if forward else window + taken
    first = taken[0].pk if taken else None
    last = taken[-1].pk if taken else place.after
    return {
        "lines": [entry.as_dict() for entry in fold(found)],
        "after": last if last is not None else 0,
        "before": first if first and chunks.filter(pk__lt=first).exists() else None,
        "more": bool(forward and last is not None and chunks.filter(pk__gt=last).exists()),
        "error": "",
    }


def _next(chunks: QuerySet[LogChunk], taken: list[LogChunk], place: _Place, need: int) -> list[LogChunk]:
    """The next chunks that hold about `need` lines, in order of arrival."""
    if place.after is not None:
        ids = chunks.filter(pk__gt=taken[-1].pk if taken else place.after).order_by("pk")
    else:
        edge = taken[0].pk if taken else place.before
        ids = (chunks.filter(pk__lt=edge) if edge is not None else chunks).order_by("-pk")
    wanted: list[int] = []
    sum_ = 0
    for pk, count in ids.values_list("pk", "lines")[:_MOST_SCANNED]:
        wanted.append(pk)
        sum_ += count
        if sum_ >= need:
            break
    return list(LogChunk.objects.filter(pk__in=wanted).order_by("pk"))


def _lines_of(attempt: Attempt, window: list[LogChunk], whole: bool) -> list[Line]:
    """Lines that end in these chunks; with `whole`, also what a rank wrote last without ending the line."""
    by_rank: dict[int, list[LogChunk]] = {}
    for chunk in window:
        by_rank.setdefault(chunk.rank, []).append(chunk)
    done = set(RankState.objects.filter(attempt=attempt).exclude(exited_at=None).values_list("rank", flat=True))
    found: list[Line] = []
    for rank, chunks in by_rank.items():
        found += assemble(rank, chunks, begun_before(attempt, chunks[0]), whole, ended=rank < 0 or rank in done)
    return sorted(found, key=lambda line: line.chunk)


def _refused(error: str) -> dict[str, Any]:
    return {"lines": [], "after": 0, "before": None, "more": False, "error": error}
