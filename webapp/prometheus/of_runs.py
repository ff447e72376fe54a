"""The health of each run that is going on or has just ended."""

import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from webapp.projects.models import Project
from webapp.runs.models import Run, Status

KEPT = timedelta(minutes=10)  # after a run's end: so that its last numbers are read
MOST = 1_000  # runs in one answer
_LABELS = ["run", "project", "name"]
_STRANGE = {"NaN": math.nan, "∞": math.inf, "−∞": -math.inf, "-∞": -math.inf}


class Collector:
    """Reads when it is asked: list rows only, never stored points."""

    def __init__(self, projects: QuerySet[Project]) -> None:
        self._projects = projects

    def collect(self) -> Iterator[Metric]:
        """One family after the other."""
        shown = recent(self._projects, timezone.now())
        yield from families(list(_with_incidents(shown)[:MOST]))
        text = f"Runs that this answer leaves out: it holds the {MOST} newest."
        yield GaugeMetricFamily("paceline_runs_left_out", text, value=max(0, shown.count() - MOST))


def recent(projects: QuerySet[Project], now: datetime) -> QuerySet[Run]:
    """Runs of these projects that go on or have ended within `KEPT`, newest first."""
    going = Q(status__in=[Status.STARTING, Status.RUNNING, Status.STOPPING])
    return Run.objects.filter(going | Q(status=Status.ENDED, ended_at__gt=now - KEPT)).filter(
        deleted_at=None, project__in=projects
    )


def families(runs: list[Run]) -> list[Metric]:
    """Pure: rows with `open_incidents` and `worst` to metrics. A number that is not known has no sample."""
    steps = CounterMetricFamily("paceline_run_steps", "Steps done.", labels=_LABELS)
    pace = GaugeMetricFamily("paceline_run_step_seconds", "Seconds for one of the last steps.", labels=_LABELS)
    loss = GaugeMetricFamily("paceline_run_loss", "The last loss.", labels=_LABELS)
    text = "What the worst open incident costs: 0.2 is a step that takes 20 % longer."
    slowdown = GaugeMetricFamily("paceline_run_slowdown", text, labels=_LABELS)
    incidents = GaugeMetricFamily("paceline_run_incidents_open", "Open incidents.", labels=_LABELS)
    for run in runs:
        labels = [run.uid, run.project.slug, run.name]
        values = (
            (steps, run.steps_done),
            (pace, 1 / run.steps_per_s if run.steps_per_s else None),
            (loss, _loss(run)),
            (slowdown, run.worst or 0.0),  # type: ignore[attr-defined]
            (incidents, run.open_incidents),  # type: ignore[attr-defined]
        )
        for family, value in values:
            if value is not None:
                family.add_metric(labels, value)
    return [steps, pace, loss, slowdown, incidents]


def _with_incidents(runs: QuerySet[Run]) -> QuerySet[Run]:
    is_open = Q(attempts__incidents__isnull=False, attempts__incidents__closed_at=None)
    return runs.select_related("project").annotate(
        open_incidents=Count("attempts__incidents", filter=is_open),
        worst=Max("attempts__incidents__slowdown", filter=is_open),
    )


def _loss(run: Run) -> float | None:
    return run.last_loss if run.last_loss is not None else _STRANGE.get(run.loss_text)
