"""Runs that hold slots and do nothing with them, or only look distributed."""

from datetime import datetime, timedelta

from webapp.incidents import lifecycle
from webapp.incidents.finding import ALONE, IDLE, Finding
from webapp.nodes.reach import is_reachable
from webapp.runs.models import Attempt, AttemptNode
from webapp.runs.state import PLACED

NOTHING_LIVES = timedelta(seconds=60)
FIRST_RANK = timedelta(seconds=300)  # that a launcher may take to start one, on a busy machine
ENOUGH_STEPS = 50


def look_at_slots(now: datetime) -> None:
    """Every launched part that still holds its slots, though no rank of it has lived for NOTHING_LIVES."""
    attempts = Attempt.objects.filter(status__in=PLACED, run__deleted_at=None).select_related("run")
    for attempt in attempts.prefetch_related("parts__node", "ranks"):
        findings = [_held(part, now) for part in attempt.parts.all() if _is_idle(attempt, part, now)]
        if findings:
            lifecycle.apply(attempt, findings, kinds=(IDLE,), step=attempt.last_step, now=now)
        else:
            lifecycle.over(attempt, (IDLE,), now)


def look_at_talk(attempt: Attempt, now: datetime) -> None:
    """Ranks that train beside each other: no process group, or no collective in all their steps."""
    if attempt.world_size < 2 or attempt.last_step is None:
        return
    facts = list(attempt.ranks.values_list("facts", flat=True))
    counted = [one for one in facts if int(one.get("steps") or 0) >= ENOUGH_STEPS]
    if len(counted) < attempt.world_size:
        return
    if any(one.get("collectives") for one in counted):
        lifecycle.over(attempt, (ALONE,), now)
        return
    no_group = all("exposed_comm" in one.get("cannot_see", {}) for one in counted)
    told = {"why": "no_group" if no_group else "no_call", "ranks": attempt.world_size}
    finding = Finding(ALONE, "job", "code", 0.0, since=attempt.first_step, probable=False, evidence=told)
    lifecycle.apply(attempt, [finding], kinds=(ALONE,), step=attempt.last_step, now=now)


def _is_idle(attempt: Attempt, part: AttemptNode, now: datetime) -> bool:
    if part.node is None or part.launched_at is None or part.finished_at is not None or part.lost_at is not None:
        return False
    if not is_reachable(part.node, now):
        return False
    held = [alive for alive in part.node.vitals.get("attempts", ()) if alive["attempt"] == attempt.pk]
    if not held or held[0].get("ranks"):
        return False
    ranks = [rank for rank in attempt.ranks.all() if rank.node_rank == part.node_rank]
    known = [at for rank in ranks for at in (rank.started_at, rank.exited_at) if at is not None]
    return now - max([part.launched_at, *known]) > (NOTHING_LIVES if known else FIRST_RANK)


def _held(part: AttemptNode, now: datetime) -> Finding:
    told = {"slots": len(part.slots)}
    subject = f"node {part.node_rank}"
    slots = len(part.slots)
    return Finding(IDLE, subject, "code", 0.0, None, node_rank=part.node_rank, evidence=told, idle_slots=slots)
