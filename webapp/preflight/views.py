"""Choosing nodes to check, and the live page of a check."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from webapp.accounts.signed_in import signed_in
from webapp.nodes.queries import node_lines
from webapp.preflight import lifecycle, page, queries, words

MOST_PAST = 20


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest) -> HttpResponse:
    """The nodes to choose from, and the checks made before; POST begins one."""
    user = signed_in(request)
    if request.method == "POST":
        queries.require_may_check(user)
        nodes, _unknown = queries.named(request.POST.getlist("node"))
        if nodes:
            return redirect("preflight:detail", lifecycle.begin(nodes, by=user.get_username()).pk)
        messages.error(request, _("Choose at least one node."))
    checks = queries.checks_seen_by(user).annotate(count=Count("nodes")).order_by("-pk")
    past = [_past(check) for check in checks[:MOST_PAST]]
    context = {"nodes": node_lines(), "past": past, "may_check": queries.may_check(user)}
    return render(request, "preflight/index.html", context, status=422 if request.method == "POST" else 200)


@login_required
@never_cache
@require_safe
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One check; for the live update only what was found so far."""
    check = queries.check_for(signed_in(request), pk)
    check = lifecycle.advance(check)
    live = request.headers.get("HX-Request") == "true"
    return render(request, "preflight/found.html" if live else "preflight/detail.html", page.page(check))


def _past(check: Any) -> dict[str, Any]:
    """`count`: its nodes."""
    head = words.head(check.level, check.findings, check.count)
    return {"check": check, "tone": words.TONES.get(check.level, "idle"), "head": head, "count": check.count}
