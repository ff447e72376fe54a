"""Pages of incidents: the list, one of them, and the numbers of its charts."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.signed_in import signed_in
from webapp.incidents import cost, evidence, listing, page, queries, severity, words
from webapp.incidents.forms import CommentForm
from webapp.incidents.listing import KINDS, Asked
from webapp.incidents.models import Incident
from webapp.numbers_json import numbers_json
from webapp.projects.access import projects_where
from webapp.projects.models import Role
from webapp.runs import pace


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The list; for the live update only what changes of it."""
    user = signed_in(request)
    asked = Asked.of(request.GET)
    found = listing.page_of(user, asked, request.GET.get("page", ""))
    context = {
        "asked": asked,
        "page": found,
        "rows": [_row(row) for row in found.object_list],
        "chips": listing.chips(user, asked),
        "projects": projects_where(user, Role.VIEWER),
        "kinds": KINDS.items(),
        "newer": asked.query(found.previous_page_number()) if found.has_previous() else "",
        "older": asked.query(found.next_page_number()) if found.has_next() else "",
        "here": asked.query(found.number),
        "empty_marks": pace.marks(2, 4),
    }
    live = request.headers.get("HX-Request") == "true"
    return render(request, "incidents/rows.html" if live else "incidents/list.html", context)


@login_required
@never_cache
@require_safe
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One incident; for the live update only what is said, without the forms."""
    user = signed_in(request)
    row = queries.incident_for(user, pk, Role.VIEWER)
    if request.headers.get("HX-Request") == "true":
        return render(request, "incidents/live.html", page.said(row))
    return render(request, "incidents/detail.html", page.whole(row, user, CommentForm()))


@login_required
@never_cache
@require_safe
def panels(request: HttpRequest, pk: int) -> HttpResponse:
    """The numbers of all its charts."""
    row = queries.incident_for(signed_in(request), pk, Role.VIEWER)
    answer = {"onset": row.opened_step, "panels": evidence.panels(row, evidence.shown(row))}
    return numbers_json(request, answer)


def _row(row: Incident) -> dict[str, object]:
    project = row.attempt.run.project
    return {
        "incident": row,
        "look": severity.look(row),
        "sentence": words.sentence(row),
        "state": severity.state(row),
        "kind": KINDS.get(row.kind, row.kind),
        "cost": cost.cost_of(row, project.slot_hour_price, project.currency),
    }
