"""Sends the file of an export; who may was asked before."""

from collections.abc import Iterator

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.exports.models import Export, State
from webapp.exports.words import is_over, sentence
from webapp.streaming import stream

_PIECE = 256 * 1024


def fetched(request: HttpRequest, row: Export) -> HttpResponseBase:
    """A .zip, piece by piece. Http404 with a sentence when there is none (any more)."""
    if row.state != State.DONE or is_over(row):
        raise Http404(sentence(row) or _("This export is not ready yet."))
    note(request, Verb.FETCHED, row.run, row.run.project, detail=row.uid)
    answer = stream(request, _pieces(row.file), "application/zip")
    answer["Content-Length"] = str(row.size)
    answer["Content-Disposition"] = f'attachment; filename="{row.run.uid}.zip"'
    return answer


def _pieces(name: str) -> Iterator[bytes]:
    with default_storage.open(name, "rb") as file:
        yield from file.chunks(_PIECE)
