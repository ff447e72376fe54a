"""Looks at every running attempt every two seconds: newest steps to the detectors, their findings to incidents.

An attempt in which ingest sees a rank fall behind is looked at at once. Each look is whole by itself and may be missed
or done twice; what is kept between two looks is in `Watch` rows.
"""

import logging
from datetime import datetime

from django.db import DatabaseError, transaction
from django.utils import timezone

from webapp.celery import app
from webapp.incidents import lifecycle
from webapp.incidents.finding import (
    DEVICE,
    INPUT,
    NETWORK,
    OVERLAP,
    REGRESSION,
    STRAGGLER,
    STRUCTURAL,
    WANDERING,
)
from webapp.incidents.models import Incident, Watch
from webapp.nodes.models import Slot
from webapp.queue import LOOK
from webapp.runs.models import Attempt, Status
from webapp.telemetry.read import Reader
from workers import hang, idle
from workers.confirm import confirmed
from workers.detect.baseline import Baseline, Usual, learn
from workers.detect.judge import judge
from workers.fresh import is_fresh
from workers.recent import between, first_judged, newest, work_of

log = logging.getLogger(__name__)

# Kinds that are found in step times and in what confirms them.
OF_STEPS = (STRAGGLER, WANDERING, STRUCTURAL, REGRESSION, NETWORK, INPUT, OVERLAP, DEVICE)
_LEARN_FROM = 80  # steps after the warm-up that the baseline may come from


@app.task(name="workers.watch.look")  # type: ignore[untyped-decorator]
def look() -> None:
    """All running attempts, and the end of the incidents of those that have ended. Imports have no steps to judge."""
    now = timezone.now()
    for attempt in Attempt.objects.filter(status=Status.RUNNING, run__imported=None).select_related("run"):
        try:
            if is_fresh(attempt, now):
                look_at(attempt, now)
                idle.look_at_talk(attempt, now)
                hang.look_at(attempt, now)
        except DatabaseError:
            log.exception("attempt %s could not be looked at, the next look tries again", attempt.pk)
    try:
        idle.look_at_slots(now)
    except DatabaseError:
        log.exception("held slots could not be looked at, the next look tries again")
    still = Incident.objects.filter(closed_at=None, attempt__status=Status.ENDED).values_list("attempt", flat=True)
    for attempt in Attempt.objects.filter(pk__in=set(still)).select_related("run"):
        lifecycle.end(attempt, now)


@app.task(name=LOOK)  # type: ignore[untyped-decorator]
def look_now(attempt_id: int) -> None:
    """One attempt in whose newest steps a rank seems to fall behind, without waiting for the next round."""
    for attempt in Attempt.objects.filter(pk=attempt_id, status=Status.RUNNING).select_related("run"):
        try:
            look_at(attempt, timezone.now())
        except DatabaseError:
            log.exception("attempt %s could not be looked at, the next round tries again", attempt_id)


def look_at(attempt: Attempt, now: datetime) -> None:
    """One attempt, if it has made steps since the last look."""
    watch, _new = Watch.objects.get_or_create(attempt=attempt)
    last = attempt.last_step
    if last is None or last == watch.looked_step:
        return
    first = first_judged(attempt)
    baseline = _baseline(attempt, watch, first, last)
    reader = Reader(attempt)
    table = newest(attempt, first, reader)
    if table.steps.size:
        opened = attempt.incidents.filter(closed_at=None, kind=STRAGGLER).values_list("rank", flat=True)
        on_gpu = Slot.objects.filter(attempt=attempt, kind="gpu").exists()
        late = frozenset(rank for rank in opened if rank is not None)
        found = judge(table, baseline, on_gpu=on_gpu, late_before=late, work=work_of(table, reader))
        findings = confirmed(reader, found, table, now, on_gpu=on_gpu)
        lifecycle.apply(attempt, findings, kinds=OF_STEPS, step=int(table.steps[-1]), now=now)
    Watch.objects.filter(pk=watch.pk).update(looked_step=last)


def _baseline(attempt: Attempt, watch: Watch, first: int, last: int) -> Baseline | None:
    """Learnt once, from the first steps after the warm-up."""
    if watch.baseline:
        return Baseline({name: Usual(*numbers) for name, numbers in watch.baseline.items()})
    if last < first + _LEARN_FROM:
        return None
    found = learn(between(attempt, first, first + _LEARN_FROM - 1))
    if found is not None:
        kept = {
            name: [usual.middle, usual.noise] for name, usual in found.usual.items() if usual.middle == usual.middle
        }
        with transaction.atomic():
            Watch.objects.filter(pk=watch.pk).update(baseline=kept)
    return found
