"""Logs of the run page: folded lines as JSON, and the bytes as they were written."""

import tarfile
from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.accounts.signed_in import signed_in
from webapp.projects.models import Role
from webapp.runs import asked, queries
from webapp.runs.models import Attempt, Run
from webapp.runs.tar_stream import TarStream
from webapp.streaming import stream
from webapp.telemetry import logs

MOST_LINES = 500
MOST_NODES, MOST_RANKS = 1 << 10, 1 << 20


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def lines(request: HttpRequest, uid: str) -> JsonResponse:
    """Newest lines; `rank` and `q` filter, `after` and `before` are cursors of an earlier answer."""
    return lines_of(request, queries.run_for(signed_in(request), uid, Role.VIEWER))


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def raw(request: HttpRequest, uid: str) -> StreamingHttpResponse:
    """One rank's log byte by byte; without `rank` every rank's and the launcher's, as .tar.gz."""
    run = queries.run_for(signed_in(request), uid, Role.VIEWER)
    attempt = asked.attempt_of(run, request.GET)
    rank = _rank(request)
    name = f"{run.uid}-{attempt.number}"
    if rank is None:
        return _download(request, _archive(attempt, name), f"{name}-logs.tar.gz", "application/gzip")
    return _download(request, logs.raw(attempt, rank), f"{name}-{_file_name(rank)}", "text/plain")


def lines_of(request: HttpRequest, run: Run) -> JsonResponse:
    """The answer of `lines`, to whoever may see the run's logs."""
    found = logs.lines(
        asked.attempt_of(run, request.GET),
        rank=_rank(request),
        query=request.GET.get("q", "").strip(),
        after=asked.whole(request.GET, "after", 0, asked.BIGGEST),
        before=asked.whole(request.GET, "before", 0, asked.BIGGEST),
        limit=MOST_LINES,
    )
    return JsonResponse(found)


def _rank(request: HttpRequest) -> int | None:
    return asked.whole(request.GET, "rank", -MOST_NODES, MOST_RANKS)


def _download(request: HttpRequest, parts: Iterator[bytes], name: str, content_type: str) -> StreamingHttpResponse:
    response = stream(request, parts, content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _archive(attempt: Attempt, folder: str) -> Iterator[bytes]:
    out = TarStream()
    for rank, size in logs.sizes(attempt).items():
        entry = tarfile.TarInfo(f"{folder}/{_file_name(rank)}")
        entry.size, entry.mode, entry.mtime = size, 0o644, int(attempt.created_at.timestamp())
        yield from out.add(entry, logs.raw(attempt, rank))
    yield from out.close()


def _file_name(rank: int) -> str:
    return f"rank{rank}.log" if rank >= 0 else f"launcher{-1 - rank}.log"
