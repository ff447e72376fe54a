"""A kept artifact as an answer: always a file to save, never a page to show."""

from pathlib import PurePosixPath

from django.http import FileResponse, HttpRequest

from webapp.artifacts import store
from webapp.artifacts.models import Artifact
from webapp.streaming import stream_file


def answer(request: HttpRequest, artifact: Artifact) -> FileResponse:
    """Its bytes, piece by piece; StoreFailed. What it is, is left open: a browser must not guess a page in it."""
    file, name = store.opened(artifact.content), PurePosixPath(artifact.name).name
    response = FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")
    response["Content-Length"] = str(artifact.size)
    response["X-Content-Type-Options"] = "nosniff"
    response["X-Content-SHA256"] = artifact.sha256
    return stream_file(request, response)
