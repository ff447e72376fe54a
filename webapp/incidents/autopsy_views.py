"""The button "What is every rank doing?" and the page with the answers."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.signed_in import signed_in
from webapp.incidents import autopsy, autopsy_page, queries
from webapp.projects.models import Role
from webapp.runs.queries import run_for


@login_required
@require_POST
def ask(request: HttpRequest, uid: str) -> HttpResponse:
    """Ask every rank of the run what it is doing."""
    user = signed_in(request)
    run = run_for(user, uid, Role.EDITOR)
    row = autopsy.ask_for(run, by=user.get_username())
    if row is None:
        messages.info(request, _("No rank of this run lives: there is nobody to ask."))
        return redirect("runs:detail", uid=run.uid)
    return redirect("incidents:autopsy", row.pk)


@login_required
@never_cache
@require_safe
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One autopsy; for the live update only what was found."""
    row = queries.autopsy_for(signed_in(request), pk, Role.VIEWER)
    live = request.headers.get("HX-Request") == "true"
    context = autopsy_page.page(row, timezone.now(), request.GET.get("page", ""))
    return render(request, "incidents/autopsy_found.html" if live else "incidents/autopsy.html", context)
