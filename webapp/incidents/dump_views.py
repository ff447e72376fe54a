"""Upload dumps: a set of flight-recorder files of any job gives the culprit ranks. Nothing of it is kept."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.files import File
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from webapp.incidents.dump_words import told
from webapp.incidents.flight_recorder.reading import LARGEST, BadDump, Dump, read
from webapp.incidents.flight_recorder.verdict import examine
from webapp.runs.folder_field import FolderField, FolderInput


class DumpsForm(forms.Form):
    """One file per rank."""

    dumps = FolderField(
        label=gettext_lazy("Dump files, one per rank"),
        help_text=gettext_lazy("The files that TORCH_FR_DUMP_TEMP_FILE names; each name ends in its rank."),
        widget=FolderInput(attrs={"multiple": True, "required": True}),
    )

    def clean_dumps(self) -> list[Dump]:
        """The dumps, one per rank, or an error that names the file."""
        files: list[File[bytes]] = self.cleaned_data["dumps"]
        if not files:
            raise forms.ValidationError(_("Choose the dump files of all ranks."))
        found: dict[int, Dump] = {}
        for file in files:
            dump = _read(file)
            if dump.rank in found:
                raise forms.ValidationError(_("There are two dumps of rank %s.") % dump.rank)
            found[dump.rank] = dump
        return list(found.values())


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def dumps(request: HttpRequest) -> HttpResponse:
    """The form, and below it what the dumps say."""
    form = DumpsForm(request.POST, request.FILES) if request.method == "POST" else DumpsForm()
    verdict = told(examine(form.cleaned_data["dumps"])) if form.is_bound and form.is_valid() else None
    status = 422 if form.errors else 200
    return render(request, "incidents/dumps.html", {"form": form, "verdict": verdict}, status=status)


def _read(file: File[bytes]) -> Dump:
    try:
        return read(file.name or "", file.read(LARGEST + 1))
    except BadDump as error:
        raise forms.ValidationError(str(error)) from error
