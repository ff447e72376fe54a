"""Sends the file of an export; who may was asked before."""

from django.core.files import File
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from webapp import saved_file
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.byte_range import Part
from webapp.exports.models import Export, State
from webapp.exports.words import is_over, sentence


def fetched(request: HttpRequest, row: Export) -> HttpResponse | FileResponse:
    """A .zip, or the part of it that is asked for, piece by piece. Http404 with a sentence when there is none."""
    if row.state != State.DONE or is_over(row):
        raise Http404(sentence(row) or _("This export is not ready yet."))

    def opened(part: Part | None) -> "File[bytes]":
        note(request, Verb.FETCHED, row.run, row.run.project, detail=row.uid)
        file = default_storage.open(row.file)
        file.seek(part.first if part else 0)
        return file

    # A file is written once, then it stays as it is: the name of the export is its tag.
    zipped = saved_file.Saved(f"{row.run.uid}.zip", row.size, row.uid, "application/zip")
    return saved_file.sent(request, zipped, opened)
