"""The runs list, live and paged."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.live import list_cursor
from webapp.nodes.queries import slot_count
from webapp.projects.access import projects_where
from webapp.projects.models import Role
from webapp.runs import looks, pace, queries
from webapp.runs.models import Attempt, Run, Status
from webapp.runs.wording import waits_sentence

CHIPS = ("", "running", "queued", "finished", "failed", "stopped")


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The page; for the live update only the parts that change, drawn by the same partials."""
    user = signed_in(request)
    cursor = list_cursor()  # before the database is read, so that no change in between is missed
    asked = {key: request.GET.get(key, "").strip() for key in ("q", "project", "status", "owner")}
    every = queries.search(user, text=asked["q"], project=asked["project"])
    found = queries.search(user, asked["q"], asked["status"], asked["project"], asked["owner"])
    page = queries.page(found, request.GET.get("page", ""))
    projects = list(projects_where(user, Role.VIEWER))
    context = {
        "asked": asked,
        "page": page,
        "rows": _rows(page.rows),
        "chips": _chips(asked, queries.counts(every, user), user),
        "projects": projects,
        "slots": slot_count(),
        "newer": _query(asked, page=page.newer),
        "older": _query(asked, page=page.older),
        "searching": any(asked.values()),
        "may_launch": projects_where(user, Role.EDITOR).exists(),
        "empty_marks": pace.marks(2, 4, "off"),
        "cursor": cursor,
    }
    live = request.headers.get("X-Live") == "list"
    return render(request, "runs/list_live.html" if live else "runs/list.html", context)


def _rows(runs: list[Run]) -> list[tuple[Run, str, bool]]:
    """Each run with what it waits for (empty unless queued), and whether its health has a badge."""
    queued = [run.pk for run in runs if run.status == Status.QUEUED]
    newest = {a.run_id: a for a in Attempt.objects.filter(run__in=queued, status=Status.QUEUED).order_by("number")}
    waits = {run_id: waits_sentence(attempt) for run_id, attempt in newest.items()}
    return [(run, waits.get(run.pk, ""), looks.health(run) is not None) for run in runs]


def _chips(asked: dict[str, str], counts: dict[str, int], user: User) -> list[dict[str, object]]:
    words = {
        "": _("All"),
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
            "query": _query(asked, status=chip, owner=""),
            "on": asked["status"] == chip and not asked["owner"],
        }
        for chip in CHIPS
    ]
    mine = user.get_username()
    query = _query(asked, owner=mine, status="")
    chips.append({"word": _("Mine"), "count": counts["mine"], "query": query, "on": asked["owner"] == mine})
    return chips


def _query(asked: dict[str, str], **changes: str) -> str:
    """The list's address with some of its questions changed."""
    return "?" + urlencode({key: value for key, value in {**asked, **changes}.items() if value})
