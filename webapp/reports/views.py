"""Pages of reports: the list, one to read, the form, its link."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import BaseFormSet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.compare import chosen, words
from webapp.projects import access
from webapp.projects.models import Role
from webapp.reports import lifecycle, page, queries
from webapp.reports.forms import BlockForm, Blocks, ReportForm, initial_of
from webapp.reports.models import Block, Kind, Report

_SHOWN, _LINK_DAYS = 100, 30


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The reports of the person's projects."""
    user = signed_in(request)
    may_write = access.projects_where(user, Role.EDITOR).exists()
    return render(request, "reports/list.html", {"reports": queries.reports_for(user)[:_SHOWN], "may_write": may_write})


@login_required
@never_cache
@require_safe
def detail(request: HttpRequest, uid: str) -> HttpResponse:
    """One report."""
    user = signed_in(request)
    report = queries.report_for(user, uid, Role.VIEWER)
    return render(request, "reports/detail.html", _context(report, user, may_write=_may_write(user, report)))


@login_required
@never_cache
@require_safe
def numbers(request: HttpRequest, uid: str, pk: int) -> JsonResponse:
    """What one block's chart draws, of the runs that this person may see."""
    user = signed_in(request)
    block = queries.block_of(queries.report_for(user, uid, Role.VIEWER), pk)
    return JsonResponse(page.numbers(block, queries.runs_for(user, block), chosen.width(request.GET.get("width", ""))))


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The form; with the questions of a comparison it begins with its charts."""
    user = signed_in(request)
    if request.method == "POST":
        form, blocks = ReportForm(user, request.POST, new=True), Blocks(request.POST)
        if form.is_valid() and blocks.is_valid():
            asked = form.cleaned_data
            report = lifecycle.make(asked["project"], user, asked["title"], _kept(blocks))
            note(request, Verb.REPORT_MADE, report, report.project)
            return redirect("reports:detail", report.uid)
        return _form(request, form, blocks, None, 422)
    first = _first_blocks(user, request)
    project = next((one["project"] for one in first if "project" in one), "")
    blocks = Blocks(initial=[{k: v for k, v in one.items() if k != "project"} for one in first])
    return _form(request, ReportForm(user, initial={"project": project}, new=True), blocks, None, 200)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, uid: str) -> HttpResponse:
    """The form of a report that is there."""
    user = signed_in(request)
    report = queries.report_for(user, uid, Role.EDITOR)
    if request.method == "POST":
        form, blocks = ReportForm(user, request.POST, new=False), Blocks(request.POST)
        if form.is_valid() and blocks.is_valid():
            lifecycle.change(report, form.cleaned_data["title"], _kept(blocks))
            note(request, Verb.REPORT_CHANGED, form.cleaned_data["title"], report.project)
            return redirect("reports:detail", uid)
        return _form(request, form, blocks, report, 422)
    form = ReportForm(user, initial={"title": report.title}, new=False)
    return _form(request, form, Blocks(initial=[initial_of(block) for block in report.blocks.all()]), report, 200)


@login_required
@require_POST
def remove(request: HttpRequest, uid: str) -> HttpResponse:
    """Remove the report."""
    report = queries.report_for(signed_in(request), uid, Role.EDITOR)
    note(request, Verb.REPORT_REMOVED, report, report.project)
    lifecycle.remove(report)
    messages.success(request, _("The report “%s” is removed.") % report.title)
    return redirect("reports:list")


@login_required
@never_cache
@require_POST
def link(request: HttpRequest, uid: str) -> HttpResponse:
    """Make a link that opens the report without an account, or take it back."""
    user = signed_in(request)
    report = queries.report_for(user, uid, Role.EDITOR)
    if "revoke" in request.POST:
        lifecycle.unlink(report)
        note(request, Verb.UNSHARED, report, report.project)
        messages.success(request, _("The link opens nothing from now on."))
        return redirect("reports:detail", uid)
    secret = lifecycle.link(report, _LINK_DAYS)
    note(request, Verb.SHARED, report, report.project)
    report.refresh_from_db()
    address = str(settings.PUBLIC_URL).rstrip("/") + reverse("reports:shared", args=[secret])
    return render(request, "reports/detail.html", _context(report, user, may_write=True) | {"address": address})


def _context(report: Report, user: User, *, may_write: bool) -> dict[str, Any]:
    def address(block: Block) -> str:
        return reverse("reports:numbers", args=[report.uid, block.pk])

    blocks = page.shown(report, lambda block: queries.runs_for(user, block), address)
    return {"report": report, "blocks": blocks, "words": words.page(), "may_write": may_write}


def _may_write(user: User, report: Report) -> bool:
    return access.allows(user, report.project, Role.EDITOR)


def _kept(blocks: "BaseFormSet[BlockForm]") -> list[dict[str, Any]]:
    return [form.fields_of_block() for form in blocks.ordered_forms if form not in blocks.deleted_forms]


def _first_blocks(user: User, request: HttpRequest) -> list[dict[str, Any]]:
    runs = chosen.runs_of(user, request.GET).runs
    if not runs:
        return [{"kind": Kind.TEXT}]
    asked = chosen.drawn(request.GET)
    named = {"runs": ", ".join(run.uid for run in runs), "project": runs[0].project.slug}
    drawn = named | {"axis": asked.axis, "smooth": asked.smooth}
    curves = [drawn | {"kind": Kind.CURVES, "metrics": chosen.joined([name])} for name in asked.metrics]
    table = named | {"kind": Kind.TABLE, "metrics": chosen.joined(asked.metrics)}
    return [{"kind": Kind.TEXT}, *curves, table]


def _form(
    request: HttpRequest, form: ReportForm, blocks: "BaseFormSet[BlockForm]", report: Report | None, status: int
) -> HttpResponse:
    return render(request, "reports/form.html", {"form": form, "blocks": blocks, "report": report}, status=status)
