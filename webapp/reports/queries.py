"""Reads of reports, and of the runs in them that somebody may see."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from webapp.accounts.models import User, hash_token
from webapp.compare import chosen
from webapp.compare.chosen import Chosen
from webapp.projects import access
from webapp.projects.models import Role
from webapp.reports.models import Block, Report
from webapp.runs.models import Run


def report_for(user: User | AnonymousUser, uid: str, role: Role) -> Report:
    """The report, if the person has `role` in its project: Http404 for strangers, PermissionDenied for less."""
    report = Report.objects.select_related("project", "author").filter(uid=uid).first()
    if report is None:
        raise Http404
    access.require(user, report.project, role)
    return report


def reports_for(user: User | AnonymousUser) -> QuerySet[Report]:
    """Those that the person may see, last changed first."""
    return access.visible(Report.objects.all(), user).select_related("project", "author")


def report_of_link(secret: str) -> Report:
    """The report that a link opens; Http404 when it opens nothing any more."""
    found = Report.objects.filter(link_hash=hash_token(secret), link_until__gt=timezone.now())
    report = found.select_related("project", "author").first()
    if report is None:
        raise Http404
    return report


def runs_for(user: User | AnonymousUser, block: Block) -> Chosen:
    """The block's runs that this person may see."""
    return chosen.by_id(user, block.runs)


def runs_of_link(report: Report, block: Block) -> Chosen:
    """What a link shows: the block's runs of the report's own project."""
    wanted = block.runs[: chosen.MOST_RUNS]
    rows = Run.objects.filter(project=report.project, deleted_at=None, uid__in=wanted)
    found = {run.uid: run for run in rows.select_related("project", "owner")}
    return Chosen([found[uid] for uid in wanted if uid in found], len(wanted) - len(found))


def block_of(report: Report, pk: int) -> Block:
    """Http404 if the report has no such block."""
    block = report.blocks.filter(pk=pk).first()
    if block is None:
        raise Http404
    return block
