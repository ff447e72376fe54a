"""Incidents for the tests of their pages."""

from typing import Any

from django.utils import timezone

from webapp.incidents import lifecycle
from webapp.incidents.finding import Finding
from webapp.incidents.models import Incident
from webapp.runs.models import Attempt

LATE: dict[str, Any] = {"rank": 2, "node_rank": 1, "evidence": {"excess": 0.2}}


def incident(
    attempt: Attempt,
    kind: str = "straggler",
    subject: str = "rank 2",
    cause: str = "backward",
    slowdown: float = 0.25,
    **more: Any,
) -> Incident:
    """Found just now, since step 40 unless something else is said."""
    fields = (LATE if subject == "rank 2" else {}) | {"since": 40} | more
    finding = Finding(kind, subject, cause, slowdown, **fields)
    lifecycle.apply(attempt, [finding], kinds=(), step=50, now=timezone.now())
    return Incident.objects.get(attempt=attempt, kind=kind, subject=subject)
