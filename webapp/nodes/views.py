"""The Nodes page: what there is, who holds it, and how to add more. Only superusers change nodes."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.nodes import enrol, lifecycle, listing, queries
from webapp.nodes.models import Node
from webapp.projects.access import require_site_admin
from webapp.runs import pace


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The page, or only its list for the live update."""
    lines, asked = queries.node_lines(), listing.Asked.of(request.GET)
    page = listing.page_of(lines, asked, request.GET.get("page", ""))
    context = {
        "all": len(lines),
        "asked": asked,
        "page": page,
        "rows": queries.node_rows(signed_in(request), page),
        "chips": listing.chips(lines, asked),
        "choice": len(lines) > listing.PAGE_SIZE,
        "count": queries.slot_count(lines),
        "here": asked.query(page.number),
        "back": asked.query(page.number - 1),
        "next": asked.query(page.number + 1),
        "empty_marks": pace.marks(2, 4, "off"),
    }
    live = request.headers.get("HX-Request") == "true"
    return render(request, "nodes/rows.html" if live else "nodes/list.html", context)


@login_required
@never_cache
@require_POST
def join_token(request: HttpRequest) -> HttpResponse:
    """A one-time token inside the exact command to type on the machine; shown once."""
    token = enrol.issue_join_token(_node_admin(request))
    note(request, Verb.JOIN_TOKEN)
    return render(request, "nodes/join_command.html", {"token": token, "public_url": settings.PUBLIC_URL})


@login_required
@require_POST
def drain(request: HttpRequest, uid: str) -> HttpResponse:
    """Take the node out of placement, or put it back (`on` is "yes" or "no")."""
    _node_admin(request)
    node = _node(uid)
    draining = request.POST.get("on") == "yes"
    lifecycle.set_draining(node, draining)
    note(request, Verb.NODE_DRAINED if draining else Verb.NODE_UNDRAINED, node)
    text = _("%s is draining: its runs go on, no new ones start there.") if draining else _("%s takes runs again.")
    messages.success(request, text % node.name)
    return _back(request)


@login_required
@require_POST
def remove(request: HttpRequest, uid: str) -> HttpResponse:
    """Forget the node and its credentials; what still runs there is lost, as the question before says."""
    _node_admin(request)
    node = _node(uid)
    lifecycle.remove(node)
    note(request, Verb.NODE_REMOVED, node)
    messages.success(request, _("%s is removed. Join it again with a new token.") % node.name)
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    """To the page of the list that the form was on."""
    page = request.GET.get("page", "")
    return redirect(reverse("nodes:list") + listing.Asked.of(request.GET).query(int(page) if page.isdecimal() else 1))


def _node_admin(request: HttpRequest) -> User:
    user = signed_in(request)
    require_site_admin(user)
    return user


def _node(uid: str) -> Node:
    return get_object_or_404(Node, uid=uid, removed_at=None)
