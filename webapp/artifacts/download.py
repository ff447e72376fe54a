"""A kept artifact as an answer: always a file to save, never a page to show."""

from functools import partial
from pathlib import PurePosixPath

from django.http import FileResponse, HttpRequest, HttpResponse

from webapp import saved_file
from webapp.artifacts import store
from webapp.artifacts.models import Artifact


def answer(request: HttpRequest, artifact: Artifact) -> HttpResponse | FileResponse:
    """Its bytes, or the part of them that is asked for, piece by piece; StoreFailed."""
    file = saved_file.Saved(PurePosixPath(artifact.name).name, artifact.size, artifact.sha256)
    response = saved_file.sent(request, file, partial(store.opened, artifact.content))
    response["X-Content-SHA256"] = artifact.sha256
    return response
