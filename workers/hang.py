"""Runs in which nothing moves: asks the nodes what every rank is doing, and opens a hang with the verdict.

No step for `limit` seconds is a hang, unless the ranks turn out to be at work. They are asked `EARLY` before that, so
that the verdict is there when the time is over; again each time the silence has doubled. What is kept between two looks
are the `Autopsy` rows alone.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import DatabaseError
from django.utils import timezone

from webapp.celery import app
from webapp.incidents import autopsy, lifecycle
from webapp.incidents.finding import HANG, Finding
from webapp.incidents.hang.words import doing
from webapp.incidents.models import Autopsy
from webapp.queue import CONCLUDE, later
from webapp.runs.models import Attempt, Status
from workers.recent import newest

log = logging.getLogger(__name__)

SHORTEST, OF_P99 = 5.0, 10.0  # seconds, and times the 99th percentile of the last steps
WARM_UP = 5  # steps that say nothing of the pace
FIRST_STEP = 300.0  # seconds that the first step may take
EARLY = 2.5  # seconds
NO_HANG = ("moving", "over")
_VAGUE = ("partition", "library", "unknown")  # verdicts that a node's silence may yet explain
MOST_CULPRITS = 4  # ranks that get an incident each; more are the job's


@app.task(name=CONCLUDE)  # type: ignore[untyped-decorator]
def conclude(asked: int) -> None:
    """All ranks have answered: look now instead of at the next round."""
    row = Autopsy.objects.filter(pk=asked).select_related("attempt__run").first()
    if row is None:
        return
    try:
        if row.asked_by:
            autopsy.conclude(row, autopsy.answers(row))
        elif row.attempt.status == Status.RUNNING:
            look_at(row.attempt, timezone.now())
    except DatabaseError:
        log.exception("autopsy %s could not be concluded, the next look tries again", asked)


def look_at(attempt: Attempt, now: datetime) -> None:
    """One running attempt whose telemetry is fresh."""
    since = attempt.progress_at or attempt.started_at
    if since is None:
        return
    stalled = (now - since).total_seconds()
    limit = _limit(attempt) if stalled >= SHORTEST - EARLY else SHORTEST
    if stalled < limit - EARLY:
        lifecycle.over(attempt, (HANG,), now)
        return
    last = attempt.autopsies.filter(asked_by="", asked_at__gt=since).first()
    is_open = attempt.incidents.filter(closed_at=None, kind=HANG).exists()
    if last is None or (not is_open and _is_worth_asking_again(last, since, now)):
        autopsy.ask(attempt)
    elif stalled < limit:
        later(CONCLUDE, limit - stalled, last.pk)
    else:
        _judge(attempt, last, stalled, limit, now)


def _judge(attempt: Attempt, row: Autopsy, stalled: float, limit: float, now: datetime) -> None:
    """Nothing has moved for longer than the limit: open a hang, unless the verdict asks for more patience."""
    told = row.verdict
    if not told or row.incident_id is None or told["kind"] in ("node", *_VAGUE):
        found = autopsy.answers(row)
        if not autopsy.is_complete(row, found, now) or not _is_watched(attempt, found):
            return
        told = autopsy.stored(autopsy.conclude(row, found))
    if told["kind"] not in NO_HANG and stalled >= limit * told["patience"]:
        _tell(attempt, row, told, limit, now)


def _limit(attempt: Attempt) -> float:
    """Seconds without a step that are too many."""
    if attempt.last_step is None:
        return FIRST_STEP
    steps = newest(attempt, min(attempt.first_step + WARM_UP, attempt.last_step)).step
    slowest = steps.max(axis=1, initial=0.0, where=~np.isnan(steps)) if steps.size else np.zeros(1)
    return max(SHORTEST, OF_P99 * float(np.percentile(slowest, 99)))


def _is_worth_asking_again(last: Autopsy, since: datetime, now: datetime) -> bool:
    """The silence has doubled since the last question."""
    before = max(last.asked_at - since, timedelta(seconds=SHORTEST))
    return now - since > 2 * before


def _is_watched(attempt: Attempt, found: autopsy.Answers) -> bool:
    """Before the first step a script that does not train at all is no hang: nothing of torch has shown up in it."""
    return attempt.last_step is not None or any(
        facts.phase or facts.answered is not None for facts in found.ranks.values()
    )


def _tell(attempt: Attempt, row: Autopsy, told: dict[str, Any], limit: float, now: datetime) -> None:
    findings = _findings(attempt, row, told, limit)
    lifecycle.over(attempt, (HANG,), now, spare=[finding.subject for finding in findings])
    lifecycle.apply(attempt, findings, kinds=(HANG,), step=attempt.last_step, now=now)
    opened = attempt.incidents.filter(closed_at=None, kind=HANG).first()
    if opened is not None and row.incident_id != opened.pk:
        Autopsy.objects.filter(pk=row.pk).update(incident=opened)


def _findings(attempt: Attempt, row: Autopsy, told: dict[str, Any], limit: float) -> list[Finding]:
    nodes, culprits = dict(attempt.ranks.values_list("rank", "node_rank")), list(told["ranks"])
    common: dict[str, Any] = {
        "cause": told["cause"],
        "slowdown": 0.0,
        "since": attempt.last_step,
        "probable": told["probable"],
        "evidence": {"hang": told, "autopsy": row.pk, "doing": doing(told), "limit_s": round(limit, 2)},
        "victims": tuple(told["victims"]),
        "stopped": True,
    }
    on = {nodes.get(rank, 0) for rank in culprits}
    if told["kind"] == "node" and len(on) == 1:
        node = on.pop()
        return [Finding(HANG, f"node {node}", node_rank=node, **common)]
    if not culprits or len(culprits) > MOST_CULPRITS:
        return [Finding(HANG, "job", **common)]
    return [Finding(HANG, f"rank {rank}", rank=rank, node_rank=nodes.get(rank), **common) for rank in culprits]
