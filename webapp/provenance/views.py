"""The part of the Config tab that is read when somebody opens it, and the difference as a file."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.accounts.signed_in import signed_in
from webapp.projects.models import Role
from webapp.provenance import page, queries
from webapp.runs import asked
from webapp.runs.queries import run_for


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def part(request: HttpRequest, uid: str) -> HttpResponse:
    """Code, packages and environment of the asked attempt."""
    run = run_for(signed_in(request), uid, Role.VIEWER)
    attempt = asked.attempt_of(run, request.GET)
    return render(request, "provenance/part.html", {"run": run, **page.parts(attempt)})


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def diff(request: HttpRequest, uid: str) -> HttpResponse:
    """How the code differed from its commit, as `git apply` takes it."""
    run = run_for(signed_in(request), uid, Role.VIEWER)
    attempt = asked.attempt_of(run, request.GET)
    rows = queries.told(attempt)
    text = queries.diff_of(rows[0]) if rows else ""
    if not text:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{run.uid}-{attempt.number}.diff"'}
    return HttpResponse(text, content_type="text/x-diff; charset=utf-8", headers=headers)
