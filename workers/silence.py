"""What a node's silence means for the attempts on it. Unreachable alone ends nothing."""

from datetime import datetime, timedelta

from django.conf import settings

from webapp.nodes.models import Command, CommandKind, Node
from webapp.runs import lifecycle
from webapp.runs.models import Attempt, AttemptNode, Outcome, Status
from webapp.runs.state import PLACED

START_ANSWERED_IN = 60.0  # seconds that a node which can be reached has to take an order to start


def judge_silence(now: datetime, since: datetime) -> None:
    """Place elsewhere what a silent node never launched; give up what a lost node held.

    `since`: how long heartbeats have been read without a pause.
    """
    parts = AttemptNode.objects.filter(attempt__status__in=PLACED, finished_at=None, lost_at=None)
    parts = parts.filter(attempt__run__imported=None)  # no node, but an importer: imports.end_silent
    for part in parts.select_related("node", "attempt__run__project"):
        silent = _silence(part.node, now, since)
        unlaunched = part.launched_at is None and part.attempt.status == Status.STARTING
        if unlaunched and silent > settings.UNREACHABLE_AFTER_S:
            lifecycle.vanish(part)
        elif silent > _limit(part):
            lifecycle.lose(part, silent=round(silent))
        elif silent > settings.UNREACHABLE_AFTER_S and _others_failed(part.attempt):
            lifecycle.lose(part, silent=round(silent), peers_failed=True)


def judge_starts(now: datetime, since: datetime) -> None:
    """Give up waiting for a node that sends heartbeats but does not take its order to start."""
    before = now - timedelta(seconds=START_ANSWERED_IN)
    if since > before:
        return  # the server itself was away meanwhile
    starts = Command.objects.filter(kind=CommandKind.START, accepted_at=None, sent_at__isnull=False)
    for start in starts.filter(created_at__lt=before, attempt__status=Status.STARTING).select_related("node"):
        if start.attempt_key in {alive["attempt"] for alive in start.node.vitals.get("attempts", ())}:
            continue  # taken; its word is on the way
        part = AttemptNode.objects.filter(attempt=start.attempt_key, node=start.node, launched_at=None)
        for one in part.select_related("attempt__run"):
            lifecycle.leave_unanswered(one, seconds=round(START_ANSWERED_IN))


def _limit(part: AttemptNode) -> float:
    own = part.attempt.run.project.lost_node_limit_s
    return float(settings.LOST_NODE_LIMIT_S if own is None else own)


def _others_failed(attempt: Attempt) -> bool:
    """Its ranks elsewhere have failed and are stopped: what a silent node still holds cannot go on without them."""
    failed = attempt.outcome in ("", Outcome.FAILED, Outcome.LOST)
    return attempt.status == Status.STOPPING and failed and not attempt.run.is_attached


def _silence(node: Node | None, now: datetime, since: datetime) -> float:
    """Seconds for which a node could have been heard and was not."""
    heard = node.last_heard if node is not None else None
    return (now - max(heard or since, since)).total_seconds()
