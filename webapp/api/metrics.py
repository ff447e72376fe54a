"""`/runs/{id}/metrics`: the names of an attempt's metrics, or every stored point of one."""

from typing import Any, Literal

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from ninja import Router
from ninja.params.functions import Query

from webapp.api import points
from webapp.api.errors import ApiError
from webapp.api.lookup import attempt_named
from webapp.api.schemas import Failure, MetricOut
from webapp.runs.models import Attempt
from webapp.streaming import stream
from webapp.telemetry import read
from webapp.telemetry.models import Metric
from webapp.telemetry.points import BUSBW, TRANSFER
from webapp.telemetry.units import unit_of

router = Router(tags=["runs"])

OF_THE_GROUP = frozenset({TRANSFER, BUSBW})  # one value for all ranks together


@router.get(
    "/{run_id}/metrics", response={200: list[MetricOut], 404: Failure}, summary="Metrics of a run, or the points of one"
)
def metrics(
    request: HttpRequest,
    run_id: str,
    *,
    name: str | None = None,
    rank: int | None = Query(None, ge=0),
    attempt: int | None = Query(None, ge=1),
    format: Literal["json", "csv"] = "json",
) -> HttpResponseBase | list[dict[str, Any]]:
    """Without `name`: the list. With it: every stored point at full resolution.

    JSON is `{name, unit, attempt, axis, rank, points: [[step or epoch seconds, value], …]}`, or without `rank`
    `{…, ranks: {"0": points, …}}` (for node/* the numbers are those of nodes). A value that JSON cannot say is
    null, and `nonfinite` names it by step. CSV has the columns step (or time), rank and value.
    """
    found = attempt_named(request, run_id, attempt)
    if name is None:
        return [_listed(metric) for metric in read.metrics(found)]
    return _answer(request, found, name, rank, format)


def _listed(metric: Metric) -> dict[str, Any]:
    return {"name": metric.name, "unit": unit_of(metric.name), "axis": metric.axis, "points": metric.points}


def _answer(request: HttpRequest, attempt: Attempt, name: str, rank: int | None, form: str) -> HttpResponseBase:
    reader = read.Reader(attempt)
    metric = next((m for m in reader.metrics(name) if m.name == name), None)
    if metric is None and not unit_of(name):
        sentence = _("Attempt %(number)s of run %(run)s has no metric “%(name)s”.")
        raise ApiError(404, sentence % {"number": attempt.number, "run": attempt.run.uid, "name": name})
    axis = metric.axis if metric else "step"
    column = None if rank is None else _column(attempt, name, metric, rank)
    parts = points.windows(reader, metric)
    if form == "csv":
        return stream(request, points.csv_of(axis, parts, column), "text/csv; charset=utf-8")
    head = {"name": name, "unit": unit_of(name), "attempt": attempt.number, "axis": axis}
    if column is None:
        return stream(request, points.json_of_all(head, parts), "application/json")
    return stream(request, points.json_of_one({**head, "rank": rank}, parts, column), "application/json")


def _column(attempt: Attempt, name: str, metric: Metric | None, rank: int) -> int:
    """The column that holds a rank's points: the only one of a group's metric, its node's for what nodes measure."""
    if rank >= attempt.world_size:
        raise ApiError(404, _("Attempt %(number)s has no rank %(rank)s.") % {"number": attempt.number, "rank": rank})
    if name in OF_THE_GROUP:
        return 0
    if metric is None or metric.columns == "rank":
        return rank
    return attempt.ranks.get(rank=rank).node_rank
