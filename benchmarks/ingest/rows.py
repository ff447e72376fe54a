"""The database's side of the measurement: the run that the nodes report about, and what was stored of it."""

import os
import statistics
import time
from typing import Any

import psutil
from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.functions import Length
from django.utils import timezone

from benchmarks.ingest.data import slab
from webapp.accounts.models import User
from webapp.numbers_json import encoded
from webapp.projects.models import Project
from webapp.runs.models import Attempt, AttemptNode, RankState, Run, Status
from webapp.telemetry import charts
from webapp.telemetry.models import Segment
from webapp.telemetry.points import BUILT_IN, STEP_END, WAIT, Points
from webapp.telemetry.store import write

TRIES = 9


@transaction.atomic  # ingest must not see the nodes before their ranks: it would believe nothing that they send
def running(nodes: int, ranks_per_node: int) -> tuple[Attempt, list[str]]:
    """A run that is running, and the names of its nodes by their rank."""
    attempt = _attempt(nodes * ranks_per_node, Status.RUNNING)
    uids = [f"n-{node:04}" for node in range(nodes)]
    AttemptNode.objects.bulk_create(
        AttemptNode(attempt=attempt, node_uid=uid, node_name=f"gpu-{node}", node_rank=node)
        for node, uid in enumerate(uids)
    )
    RankState.objects.bulk_create(
        RankState(attempt=attempt, rank=rank, node_rank=rank // ranks_per_node, local_rank=rank % ranks_per_node)
        for rank in range(nodes * ranks_per_node)
    )
    return attempt, uids


def is_served(attempt: Attempt) -> bool:
    """Whether an ingest process has taken it."""
    return Attempt.objects.filter(pk=attempt.pk).exclude(lease_holder="").exists()


def end(attempt: Attempt) -> None:
    """The run and all its parts are over."""
    now = timezone.now()
    attempt.parts.update(finished_at=now)
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED, outcome="succeeded", ended_at=now)


def is_compacted(attempt: Attempt) -> bool:
    """Whether everything is in segments."""
    return Attempt.objects.filter(pk=attempt.pk, compacted=True).exists()


def sizes(attempt: Attempt, floats: tuple[str, ...]) -> dict[str, Any]:
    """Bytes per point, of all that is kept and of kinds of numbers. Derived numbers are kept, but were not sent."""
    segments = Segment.objects.filter(metric__attempt=attempt)
    kept = dict(segments.order_by().values_list("metric__name").annotate(size=Sum(Length("payload"))))
    points = dict(attempt.metrics.values_list("name", "points"))
    timers = BUILT_IN - {STEP_END, WAIT, "comm/bytes", "comm/busbw", "comm/transfer", "local/step"}
    sent = {name: count for name, count in points.items() if name in {*timers, *floats, STEP_END, "comm/bytes"}}
    return {
        "points_stored": sum(sent.values()),
        "points_derived": sum(points.values()) - sum(sent.values()),
        "bytes_per_point": round(sum(kept.values()) / sum(points.values()), 2),
        "bytes_per_float": _share(segments, floats, points),
        "bytes_per_timer": _share(segments, tuple(timers), points),
    }


def _share(segments: Any, names: tuple[str, ...], points: dict[str, int]) -> float:
    raw = segments.filter(metric__name__in=names, level=0).aggregate(size=Sum(Length("payload")))["size"]
    return round(float(raw) / sum(points.get(name, 0) for name in names), 2)


def heatmap_ms(ranks: int, steps: int) -> float:
    """Milliseconds to read the step times of all ranks and to pack them as the page's panel; median of some."""
    import numpy as np

    attempt = _attempt(ranks, Status.ENDED)
    made = slab(ranks, steps, 0).timers["phase/step"]
    rank = np.tile(np.arange(ranks, dtype=np.int64), steps)
    index = np.repeat(np.arange(steps, dtype=np.int64), ranks)
    write(attempt, {"phase/step": Points("phase/step", "step", "rank", "us", rank, index, made.ravel() / 1e6)})
    Attempt.objects.filter(pk=attempt.pk).update(compacted=True)
    attempt.refresh_from_db()
    return round(statistics.median(_one_read_ms(attempt) for _ in range(TRIES)), 2)


def _one_read_ms(attempt: Attempt) -> float:
    began = time.process_time()
    encoded(charts.panel(attempt, "heat:step", width=2_000))
    return (time.process_time() - began) * 1e3


def database_cpu_s() -> float:
    """CPU seconds of the database's own processes; 0 for SQLite, which works inside ours."""
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = psutil.Process(cursor.fetchone()[0])
    postmaster = backend.parent() or backend
    mine = [process for process in postmaster.children() if process.pid != backend.pid]
    return sum(_spent_s(process) for process in mine)


def _spent_s(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _attempt(ranks: int, status: Status) -> Attempt:
    project, _new = Project.objects.get_or_create(slug="measured", defaults={"name": "Measured"})
    owner, _new = User.objects.get_or_create(username="measured")
    now = timezone.now()
    run = Run.objects.create(
        project=project,
        owner=owner,
        name=f"{ranks} ranks of {os.getpid()}",
        spec={"argv": ["train.py"], "nodes": 1, "ranks_per_node": ranks},
        world_size=ranks,
        attempt_count=1,
        status=status,
        started_at=now,
    )
    return Attempt.objects.create(run=run, number=1, world_size=ranks, status=status, placed_at=now, started_at=now)
