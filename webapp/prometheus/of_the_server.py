"""Numbers of the server: runs, nodes, slots, incidents, the queue and how far ingest is behind."""

from collections.abc import Iterator
from datetime import datetime

import redis
from django.db.models import Count, Min, QuerySet
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from trainer_agent.wire import names
from webapp.incidents.models import Incident
from webapp.nodes.models import Node, Slot
from webapp.nodes.reach import reachable
from webapp.projects.models import Project
from webapp.redis import connection
from webapp.runs.models import Attempt, AttemptNode, Run, Status


class Collector:
    """Reads when it is asked. Without Redis the numbers of ingest are left out; nobody makes them up."""

    def __init__(self, projects: QuerySet[Project]) -> None:
        self._projects = projects

    def collect(self) -> Iterator[Metric]:
        """One family after the other."""
        now = timezone.now()
        runs = Run.objects.filter(deleted_at=None, project__in=self._projects)
        yield _runs(runs)
        yield _queue(runs, now)
        yield _incidents(runs)
        yield from _nodes(now)
        try:
            yield from _ingest()
        except redis.RedisError:
            return


def _runs(runs: QuerySet[Run]) -> Metric:
    family = GaugeMetricFamily(
        "paceline_runs", "Runs by status and, once ended, outcome.", labels=["status", "outcome"]
    )
    for status, outcome, count in runs.order_by().values_list("status", "outcome").annotate(n=Count("pk")):
        family.add_metric([status, outcome], count)
    return family


def _queue(runs: QuerySet[Run], now: datetime) -> Metric:
    queued = Attempt.objects.filter(status=Status.QUEUED, run__in=runs)
    oldest = queued.aggregate(oldest=Min("created_at"))["oldest"]
    wait = (now - oldest).total_seconds() if oldest else 0.0
    text = "Seconds that the run at the head of the queue has waited; 0 when nothing waits."
    return GaugeMetricFamily("paceline_queue_wait_seconds", text, value=max(0.0, wait))


def _incidents(runs: QuerySet[Run]) -> Metric:
    family = GaugeMetricFamily("paceline_incidents_open", "Open incidents.", labels=["kind", "severity"])
    is_open = Incident.objects.filter(closed_at=None, attempt__run__in=runs).order_by()
    for kind, severity, count in is_open.values_list("kind", "severity").annotate(n=Count("pk")):
        family.add_metric([kind, severity], count)
    return family


def _nodes(now: datetime) -> Iterator[Metric]:
    """Nodes and their slots, which all projects share. A free slot counts only where it can be had."""
    heard = reachable(now)
    own = Node.objects.filter(removed_at=None, attached_as="").count()
    nodes = GaugeMetricFamily("paceline_nodes", "Nodes that have joined.", labels=["state"])
    nodes.add_metric(["reachable"], heard.count())
    nodes.add_metric(["unreachable"], own - heard.count())
    yield nodes
    all_slots = Slot.objects.filter(node__removed_at=None, node__attached_as="")
    slots = GaugeMetricFamily("paceline_slots", "Slots of these nodes.", labels=["state"])
    used = all_slots.exclude(attempt=None).count()
    free = all_slots.filter(attempt=None, node__in=heard.filter(draining=False)).count()
    slots.add_metric(["used"], used)
    slots.add_metric(["free"], free)
    slots.add_metric(["unavailable"], all_slots.count() - used - free)
    yield slots


def _ingest() -> Iterator[Metric]:
    client = connection()
    stored: bytes | None = client.get(names.points_stored())  # type: ignore[assignment]
    text = "Points that ingest has stored since Redis was last empty."
    yield CounterMetricFamily("paceline_ingest_points", text, value=float(stored or 0))
    text = "Age of the oldest message of a node that is not stored yet; 0 when nothing waits."
    yield GaugeMetricFamily("paceline_ingest_lag_seconds", text, value=_lag(client))


def _lag(client: redis.Redis) -> float:
    """By Redis's own clock, which numbers the messages."""
    parts = AttemptNode.objects.filter(attempt__compacted=False).values_list("attempt_id", "node_uid")
    pipe = client.pipeline(transaction=False)
    pipe.time()
    for attempt, node in parts:
        pipe.xrange(names.telemetry(attempt, node), count=1)
    (seconds, micros), *heads = pipe.execute()
    sent = [int(head[0][0].partition(b"-")[0]) / 1000 for head in heads if head]
    return max(0.0, seconds + micros / 1e6 - min(sent)) if sent else 0.0
