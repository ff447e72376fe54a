"""A kept artifact as an answer: always a file to save, never a page to show."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from webapp.artifacts.models import Artifact, where_kept
from webapp.streaming import stream

_PIECE = 1024 * 1024


def answer(request: HttpRequest, artifact: Artifact) -> HttpResponseBase:
    """Its bytes, piece by piece. What it is, is left open: a browser must not guess a page in it."""
    response = stream(request, pieces(artifact), "application/octet-stream")
    name = PurePosixPath(artifact.name).name
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["Content-Length"] = str(artifact.size)
    response["X-Content-Type-Options"] = "nosniff"
    response["X-Content-SHA256"] = artifact.sha256
    return response


def pieces(artifact: Artifact) -> Iterator[bytes]:
    """The content. One in a bucket is read as it comes; its file object would fetch the whole before the first byte."""
    with where_kept().open(artifact.content) as opened:
        remote = getattr(opened, "obj", None)
        if remote is not None:
            yield from remote.get()["Body"].iter_chunks(_PIECE)
        else:
            yield from opened.chunks(_PIECE)
