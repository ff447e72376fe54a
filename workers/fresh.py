"""Whether what is known of an attempt is recent enough to judge it by; else that is said, and nothing else."""

from datetime import datetime, timedelta

from webapp.incidents import lifecycle
from webapp.incidents.finding import TELEMETRY, Finding
from webapp.nodes.reach import is_reachable
from webapp.runs.models import Attempt

STALE = timedelta(seconds=10)  # nodes send samples every second


def is_fresh(attempt: Attempt, now: datetime) -> bool:
    """Look, and open or close the incidents that say what is missing. False: nothing can be said of the ranks.

    A node that cannot be reached while the others still tell is an incident, but the others can be judged.
    """
    parts = list(attempt.parts.filter(finished_at=None).select_related("node"))
    away = [part.node_rank for part in parts if part.node is None or not is_reachable(part.node, now)]
    heard = attempt.telemetry_at or attempt.started_at
    stale = heard is not None and now - heard > STALE
    if stale:
        findings = [Finding(TELEMETRY, "job", "unknown", 0.0, since=attempt.last_step, evidence=_since(heard))]
    else:
        findings = [
            Finding(TELEMETRY, f"node {node}", "unknown", 0.0, since=attempt.last_step, node_rank=node) for node in away
        ]
    if not findings:
        lifecycle.over(attempt, (TELEMETRY,), now)
    else:
        lifecycle.apply(attempt, findings, kinds=(TELEMETRY,), step=attempt.last_step, now=now)
    return not stale


def _since(heard: datetime | None) -> dict[str, str]:
    return {"since": heard.isoformat()} if heard is not None else {}
