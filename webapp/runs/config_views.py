"""The Config tab, read when somebody opens it and again while the run lives: it may be longer than the page."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.accounts.signed_in import signed_in
from webapp.projects.models import Role
from webapp.runs import asked, queries, run_config


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def config(request: HttpRequest, uid: str) -> HttpResponse:
    """What was asked for, the command of each node, and the asked attempt's nodes and ranks."""
    run = queries.run_for(signed_in(request), uid, Role.VIEWER)
    attempt = asked.attempt_of(run, request.GET)
    context = {"run": run, "attempt": attempt, **run_config.tables(run, attempt)}
    return render(request, "runs/run/config.html", context)
