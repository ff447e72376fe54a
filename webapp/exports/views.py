"""The page of a run's exports, live while one is made, and their files."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.exports import lifecycle, queries, words
from webapp.exports.fetch import fetched
from webapp.exports.forms import ExportForm
from webapp.exports.models import Export, State
from webapp.projects.models import Role
from webapp.runs.models import Run
from webapp.runs.queries import run_for


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def of_run(request: HttpRequest, uid: str) -> HttpResponse:
    """Start one, and see those that there are; for the live update only the latter."""
    user = signed_in(request)
    run = run_for(user, uid, Role.VIEWER)
    form = ExportForm(request.POST) if request.method == "POST" else ExportForm()
    if request.method == "POST" and form.is_valid():
        try:
            lifecycle.start(run, user, form.cleaned_data["kinds"])
        except lifecycle.TooMany:
            messages.error(request, _("Wait until one of your other exports is ready."))
        else:
            note(request, Verb.EXPORTED, run, run.project)
        return redirect("exports:of_run", run.uid)
    live = request.headers.get("HX-Request") == "true"
    context = {"form": form, **_listed(run)}
    return render(
        request, "exports/rows.html" if live else "exports/page.html", context, status=422 if form.errors else 200
    )


@login_required
@never_cache
@require_safe
def file(request: HttpRequest, export: str) -> HttpResponseBase:
    """The file, for whom may see the run now."""
    return fetched(request, queries.export_for(signed_in(request), export))


def _listed(run: Run) -> dict[str, Any]:
    rows = [_row(export) for export in queries.of_run(run)[: queries.SHOWN]]
    return {"run": run, "rows": rows, "going": any(row["going"] for row in rows)}


def _row(export: Export) -> dict[str, Any]:
    return {
        "export": export,
        "look": words.look(export),
        "contents": words.contents(export),
        "sentence": words.sentence(export),
        "going": export.state in lifecycle.OPEN,
        "ready": export.state == State.DONE and not words.is_over(export),
        "percent": int(100 * export.progress),
    }
