"""The runs list, live and paged."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.history import columns, listing, saved
from webapp.live import list_cursor
from webapp.nodes.queries import slot_count
from webapp.projects.access import projects_where
from webapp.projects.models import Role
from webapp.runs import pace, queries

CHIPS = ("", "running", "queued", "finished", "failed", "stopped")


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The page; for the live update only the parts that change, drawn by the same partials."""
    user = signed_in(request)
    cursor = list_cursor()  # before the database is read, so that no change in between is missed
    default = saved.default_address(user, request.GET)
    if default:
        return redirect(default)
    asked = listing.state(request.GET)
    every, error = listing.found_or_none(user, asked | {"status": "", "owner": ""})
    found, _error = listing.found_or_none(user, asked)
    counts = queries.counts(every, user)
    total = _counted(asked, counts, user)
    on_top, page = listing.pinned_and_page(found, asked, request.GET.get("page", ""), total)
    chosen = columns.chosen(asked["cols"])
    projects = list(projects_where(user, Role.VIEWER))
    context = {
        "asked": asked,
        "error": error,
        "page": page,
        "pinned": listing.rows(on_top, chosen, user),
        "rows": listing.rows([run for run in page.rows if run not in on_top], chosen, user),
        "columns": chosen,
        "heads": listing.heads(chosen, asked),
        "fixed": listing.fixed_heads(asked),
        "all_columns": columns.TITLES,
        "chips": _chips(asked, counts, user),
        "projects": projects,
        "slots": slot_count(),
        "state": listing.address(asked),
        "newer": listing.address(asked, page=page.newer),
        "older": listing.address(asked, page=page.older),
        "searching": any(asked[key] for key in ("q", "project", "status", "owner")),
        "may_launch": projects_where(user, Role.EDITOR).exists(),
        "empty_marks": pace.marks(2, 4, "off"),
        "cursor": cursor,
        **saved.menu(user, asked),
    }
    live = request.headers.get("X-Live") == "list"
    return render(request, "runs/list_live.html" if live else "runs/list.html", context)


def _counted(asked: dict[str, str], counts: dict[str, int], user: User) -> int | None:
    """How many runs the list has, if a chip has counted just these."""
    if asked["owner"]:
        return counts["mine"] if asked["owner"] == user.get_username() and not asked["status"] else None
    return counts[asked["status"] or "all"] if asked["status"] in CHIPS else None


def _chips(asked: dict[str, str], counts: dict[str, int], user: User) -> list[dict[str, object]]:
    words = {
        "": pgettext("runs", "All"),
        "running": _("Running"),
        "queued": _("Queued"),
        "finished": _("Finished"),
        "failed": _("Failed"),
        "stopped": _("Stopped"),
    }
    chips: list[dict[str, object]] = [
        {
            "word": words[chip],
            "count": counts[chip or "all"],
            "query": listing.address(asked, status=chip, owner=""),
            "on": asked["status"] == chip and not asked["owner"],
        }
        for chip in CHIPS
    ]
    mine = user.get_username()
    query = listing.address(asked, owner=mine, status="")
    is_on = asked["owner"] == mine
    chips.append({"word": pgettext("runs", "Mine"), "count": counts["mine"], "query": query, "on": is_on})
    return chips
