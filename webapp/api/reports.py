"""`/reports`: pages of text and live charts."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from ninja.params.functions import Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from webapp.api.auth import person
from webapp.api.create import project_named
from webapp.api.schemas import Failure
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.compare.chosen import MOST_METRICS, MOST_RUNS
from webapp.compare.smoothing import STRONGEST
from webapp.projects.models import Role
from webapp.reports import lifecycle, queries
from webapp.reports.forms import MOST_BLOCKS
from webapp.reports.models import LONGEST_TEXT, LONGEST_TITLE, Report

router = Router(tags=["reports"])
_ANSWERS = {403: Failure, 404: Failure}
_RunId = Annotated[str, Field(pattern=r"^r-[a-z0-9]{6,14}$")]
_Metric = Annotated[str, Field(min_length=1, max_length=500)]


class BlockIn(BaseModel):
    """One part of a report. A text has only `text`; of a chart the text stands below it."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["text", "curves", "phases", "scaling", "table"] = "text"
    text: str = Field("", max_length=LONGEST_TEXT, description="Markdown")
    runs: list[_RunId] = Field([], max_length=MOST_RUNS)
    metrics: list[_Metric] = Field([], max_length=MOST_METRICS, description="one for curves, several for a table")
    axis: Literal["step", "relative", "time"] = "step"
    smooth: float = Field(0.0, ge=0, le=STRONGEST)

    @model_validator(mode="after")
    def _has_what_it_draws(self) -> "BlockIn":
        if self.kind != "text" and not self.runs:
            raise ValueError(_("Name the runs of this chart."))
        if self.kind == "curves" and not self.metrics:
            raise ValueError(_("Name the metric, such as loss."))
        return self


class ReportChange(BaseModel):
    """The whole of a report: what is not sent is not kept."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1, max_length=LONGEST_TITLE)
    blocks: list[BlockIn] = Field([], max_length=MOST_BLOCKS)


class ReportIn(ReportChange):
    project: str = Field(description="slug of the project")


class ReportOut(Schema):
    """A report without its content."""

    id: str
    title: str
    project: str
    author: str | None
    created_at: datetime
    changed_at: datetime
    url: str


class ReportWhole(ReportOut):
    blocks: list[BlockIn]


@router.get("", response=list[ReportOut], summary="Reports, last changed first")
def list_reports(request: HttpRequest, project: str = "", limit: int = Query(50, ge=1, le=200)) -> list[dict[str, Any]]:
    found = queries.reports_for(person(request))
    if project:
        found = found.filter(project__slug=project)
    return [_shape(report) for report in found[:limit]]


@router.post("", response={201: ReportWhole, **_ANSWERS, 422: Failure}, summary="Write a report")
def make(request: HttpRequest, asked: ReportIn) -> Status[dict[str, Any]]:
    project = project_named(person(request), asked.project, Role.EDITOR)
    report = lifecycle.make(project, person(request), asked.title, _blocks(asked))
    note(request, Verb.REPORT_MADE, report, project)
    return Status(201, _whole(report))


@router.get("/{report_id}", response={200: ReportWhole, **_ANSWERS}, summary="Read a report")
def read(request: HttpRequest, report_id: str) -> dict[str, Any]:
    return _whole(queries.report_for(person(request), report_id, Role.VIEWER))


@router.put("/{report_id}", response={200: ReportWhole, **_ANSWERS, 422: Failure}, summary="Change a report")
def change(request: HttpRequest, report_id: str, asked: ReportChange) -> dict[str, Any]:
    """In place of what is there."""
    report = queries.report_for(person(request), report_id, Role.EDITOR)
    lifecycle.change(report, asked.title, _blocks(asked))
    report.refresh_from_db()
    note(request, Verb.REPORT_CHANGED, report, report.project)
    return _whole(report)


@router.delete("/{report_id}", response={204: None, **_ANSWERS}, summary="Remove a report")
def remove(request: HttpRequest, report_id: str) -> Status[None]:
    """No run changes by it."""
    report = queries.report_for(person(request), report_id, Role.EDITOR)
    note(request, Verb.REPORT_REMOVED, report, report.project)
    lifecycle.remove(report)
    return Status(204, None)


def _blocks(asked: ReportChange) -> list[dict[str, Any]]:
    return [block.model_dump(include={"kind", "text"} if block.kind == "text" else None) for block in asked.blocks]


def _whole(report: Report) -> dict[str, Any]:
    return {**_shape(report), "blocks": list(report.blocks.values(*BlockIn.model_fields))}


def _shape(report: Report) -> dict[str, Any]:
    return {
        "id": report.uid,
        "title": report.title,
        "project": report.project.slug,
        "author": report.author.username if report.author else None,
        "created_at": report.created_at,
        "changed_at": report.changed_at,
        "url": settings.PUBLIC_URL.rstrip("/") + reverse("reports:detail", args=[report.uid]),
    }
