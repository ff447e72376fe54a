"""The Ledger tab, read when somebody opens it and again while it is open."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.accounts.signed_in import signed_in
from webapp.projects.models import Role
from webapp.runs import asked, ledger_page, queries


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def ledger(request: HttpRequest, uid: str) -> HttpResponse:
    """What was made, sent, stored and dropped in the asked attempt, and where the run's slot time went."""
    run = queries.run_for(signed_in(request), uid, Role.VIEWER)
    attempt = asked.attempt_of(run, request.GET)
    return render(request, "runs/run/ledger.html", ledger_page.parts(run, attempt))
