"""Links to a run, for its editors: listed, made, taken back."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects.models import Role
from webapp.runs import queries
from webapp.runs.models import Run
from webapp.sharing import lifecycle, words
from webapp.sharing.forms import ShareForm
from webapp.sharing.models import ShareLink

_AT_MOST = 50  # of the newest links are listed


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def links(request: HttpRequest, uid: str) -> HttpResponse:
    """The content of the dialog; POST makes a link, whose address is in this answer and nowhere else."""
    user = signed_in(request)
    run = queries.run_for(user, uid, Role.EDITOR)
    form = ShareForm(request.POST or None)
    if request.method != "POST":
        return _dialog(request, run, ShareForm())
    if not form.is_valid():
        return _dialog(request, run, form, status=422)
    asked = form.cleaned_data
    link, secret = lifecycle.make(
        run, user, view=asked["view"], days=asked["days"] or None, with_logs=asked["with_logs"]
    )
    note(request, Verb.SHARED, run, run.project, detail=words.audited(link))
    return _dialog(request, run, ShareForm(), address=words.address_of(link, secret))


@login_required
@require_POST
def revoke(request: HttpRequest, uid: str, pk: int) -> HttpResponse:
    """The link opens nothing from now on; pages that are open end at their next look."""
    run = queries.run_for(signed_in(request), uid, Role.EDITOR)
    link = ShareLink.objects.filter(run=run, pk=pk).first()
    if link is None:
        raise Http404
    if lifecycle.revoke(link):
        note(request, Verb.UNSHARED, run, run.project, detail=f"{link.hint}…")
    return _dialog(request, run, ShareForm())


def _dialog(request: HttpRequest, run: Run, form: ShareForm, *, address: str = "", status: int = 200) -> HttpResponse:
    rows = run.share_links.filter(revoked_at=None).select_related("created_by")[:_AT_MOST]
    context: dict[str, Any] = {"run": run, "form": form, "address": address, "links": rows, "now": timezone.now()}
    return render(request, "sharing/dialog.html", context, status=status)
