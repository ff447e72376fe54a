"""The Artifacts tab of the run page: list, add, download, delete."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe

from webapp.accounts.signed_in import signed_in
from webapp.artifacts import download, lifecycle
from webapp.artifacts.models import Artifact
from webapp.artifacts.names import Refused
from webapp.artifacts.store import StoreFailed
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.models import Run
from webapp.runs.queries import run_for


@login_required
@never_cache
@require_GET
def index(request: HttpRequest, uid: str) -> HttpResponse:
    """The tab's part."""
    user = signed_in(request)
    run = run_for(user, uid, Role.VIEWER)
    rows = list(run.artifacts.select_related("added_by"))
    context = {
        "run": run,
        "artifacts": rows,
        "total": sum(row.size for row in rows if row.is_kept),
        "can_edit": access.allows(user, run.project, Role.EDITOR),
    }
    return render(request, "artifacts/part.html", context)


@login_required
@require_POST
def add(request: HttpRequest, uid: str) -> HttpResponse:
    """`file`, and a `name` unless its own is meant."""
    user = signed_in(request)
    run = run_for(user, uid, Role.EDITOR)
    sent = request.FILES.get("file")
    try:
        if sent is None:
            raise Refused("file", _("Choose a file first."))
        made = lifecycle.keep(run, request.POST.get("name", ""), sent, user, replace="replace" in request.POST)
    except (Refused, StoreFailed) as problem:
        messages.error(request, str(problem))
    else:
        note(request, Verb.ARTIFACT_ADDED, made, run.project, detail=run.uid)
        messages.success(request, _("“%s” is added.") % made.name)
    return _back(run)


@login_required
@require_safe
def content(request: HttpRequest, uid: str, pk: int) -> HttpResponseBase:
    """Download one that is kept here, or go on with that."""
    artifact = _artifact(run_for(signed_in(request), uid, Role.VIEWER), pk)
    if not artifact.is_kept:
        raise Http404
    try:
        return download.answer(request, artifact)
    except StoreFailed as failed:
        told = {"code": failed.status, "text": str(failed)}
        return render(request, "artifacts/failed.html", told, status=failed.status)


@login_required
@require_POST
def delete(request: HttpRequest, uid: str, pk: int) -> HttpResponse:
    """For good; a file that stays on its node stays."""
    run = run_for(signed_in(request), uid, Role.EDITOR)
    artifact = _artifact(run, pk)
    try:
        lifecycle.remove(artifact)
    except StoreFailed as failed:
        messages.error(request, str(failed))
    else:
        note(request, Verb.ARTIFACT_REMOVED, artifact, run.project, detail=run.uid)
        messages.success(request, _("“%s” is deleted.") % artifact.name)
    return _back(run)


def _artifact(run: Run, pk: int) -> Artifact:
    return get_object_or_404(run.artifacts, pk=pk)


def _back(run: Run) -> HttpResponse:
    return redirect(reverse("runs:detail", args=[run.uid]) + "#artifacts")
