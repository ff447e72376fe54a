"""A report to take away: the page, for those who may open it, as one file."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.signed_in import signed_in
from webapp.compare.chosen import Chosen
from webapp.projects.models import Role
from webapp.reports import page, queries
from webapp.reports.models import Block, Kind, Report
from webapp.reports.shared import private


@login_required
@never_cache
@require_safe
def own(request: HttpRequest, uid: str) -> HttpResponse:
    """With the runs that this person may see."""
    user = signed_in(request)
    report = queries.report_for(user, uid, Role.VIEWER)
    return _answer(report, lambda block: queries.runs_for(user, block))


@never_cache
@require_safe
def by_link(request: HttpRequest, token: str) -> HttpResponse:
    """With the runs that the link shows. The link itself is not in it: a file is passed on."""
    report = queries.report_of_link(token)
    return private(_answer(report, lambda block: queries.runs_of_link(report, block)))


def _answer(report: Report, runs_of: Callable[[Block], Chosen]) -> HttpResponse:
    # Here, since its plotly takes a quarter of a second of every start, and no other page needs it.
    from webapp.reports import one_file

    address = str(settings.PUBLIC_URL).rstrip("/") + reverse("reports:detail", args=[report.uid])
    blocks = page.shown(report, runs_of, lambda _block: "")
    for one in blocks:
        if one["block"].kind not in (Kind.TEXT, Kind.TABLE):
            one["numbers"] = page.numbers(one["block"], runs_of(one["block"]), one_file.WIDTH_PX)
    response = HttpResponse(one_file.html(report, blocks, address, timezone.now()))
    response["Content-Disposition"] = content_disposition_header(True, one_file.file_name(report)) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response
