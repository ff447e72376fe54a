"""The run page, its live parts, and what people do there: stop, delete."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from webapp import live
from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.history.bulk import UNDO
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs import asked, first_read, lifecycle, queries, run_page
from webapp.runs.models import Attempt, Run, Status
from webapp.runs.run_words import WORDS


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def detail(request: HttpRequest, uid: str) -> HttpResponse:
    """The page."""
    user = signed_in(request)
    run = queries.run_for(user, uid, Role.VIEWER)
    context = page_context(request, run, _address_of(run), can_edit=access.allows(user, run.project, Role.EDITOR))
    return render(request, "runs/run.html", context)


@login_required
@never_cache
@require_GET
@asked.answers_bad_questions
def header(request: HttpRequest, uid: str) -> HttpResponse:
    """The page's words again, as they are now."""
    user = signed_in(request)
    run = queries.run_for(user, uid, Role.VIEWER)
    attempt = asked.attempt_of(run, request.GET)
    context = run_page.parts(run, attempt, can_edit=access.allows(user, run.project, Role.EDITOR))
    return render(request, "runs/run/parts.html", context)


@login_required
@require_POST
def stop(request: HttpRequest, uid: str) -> HttpResponse:
    """Ask the run to stop; the page says `stopping` until every node proved that nothing is left."""
    user = signed_in(request)
    run = queries.run_for(user, uid, Role.EDITOR)
    if lifecycle.request_stop(run, actor=user.get_username()):
        note(request, Verb.STOPPED, run, run.project)
    else:
        messages.info(request, _("There is nothing to stop: the run has ended or is stopping already."))
    return redirect("runs:detail", uid=run.uid)


@login_required
@require_POST
def delete(request: HttpRequest, uid: str) -> HttpResponse:
    """Delete the run with its numbers and logs, for good a day later; ranks that still live are stopped."""
    user = signed_in(request)
    run = queries.run_for(user, uid, Role.EDITOR)
    lifecycle.delete(run, actor=user.get_username())
    note(request, Verb.DELETED, run, run.project)
    request.session[UNDO] = [run.uid]
    messages.success(request, _("%s is deleted. You can undo this for 24 hours.") % run.name, extra_tags="undo")
    return redirect("runs:list")


def page_context(
    request: HttpRequest, run: Run, address: Callable[[str], str], *, can_edit: bool = False
) -> dict[str, Any]:
    """What templates/runs/run.html draws. `address`: of each thing that the scripts ask for, empty for none.

    The stream's cursor is noted before the database is read, so that no change falls between.
    """
    cursor = live.cursor(run.uid)
    run.refresh_from_db()
    attempt = asked.attempt_of(run, request.GET)
    chosen = attempt.number if asked.names_attempt(request.GET) else None  # None: the charts show all attempts
    return run_page.parts(run, attempt, can_edit=can_edit) | {
        "words": WORDS,
        "first_reads": first_read.addresses(address("panels"), request.GET, chosen),
        "config": _for_scripts(run, attempt, cursor, address) | {"all": chosen is None},
        "chosen": chosen,
        "attempts": list(run.attempts.order_by("-number")) if run.attempt_count > 1 else [],
        "rank_numbers": range(attempt.world_size),
    }


def _for_scripts(run: Run, attempt: Attempt, cursor: str, address: Callable[[str], str]) -> dict[str, Any]:
    def of_attempt(name: str) -> str:
        return f"{address(name)}?attempt={attempt.number}"

    return {
        "name": run.name,
        "attempt": attempt.number,
        "newest": run.attempt_count,
        "live": attempt.status != Status.ENDED,
        "cursor": cursor,
        "urls": {
            **{name: address(name) for name in ("panels", "keys", "logs", "live", "notes", "artifacts")},
            **{name: of_attempt(name) for name in ("header", "ledger", "config", "provenance")},
        },
    }


def _address_of(run: Run) -> Callable[[str], str]:
    elsewhere = {
        "live": "live:run",
        "notes": "notes:part",
        "provenance": "provenance:part",
        "artifacts": "artifacts:list",
    }
    return lambda name: reverse(elsewhere.get(name, f"runs:{name}"), args=[run.uid])
