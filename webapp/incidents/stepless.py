"""Runs that succeeded and did nothing: every rank ended with exit code 0, and none of them made a step."""

from django.utils import timezone

from webapp.incidents import lifecycle
from webapp.incidents.finding import ALONE, Finding
from webapp.runs.models import Attempt, Outcome
from webapp.telemetry.points import STEP
from webapp.telemetry.read import Reader


def note(attempt: Attempt) -> None:
    """The attempt has ended: say so on it, if it was to be distributed and trained nothing."""
    if attempt.outcome != Outcome.SUCCEEDED or attempt.world_size < 2 or attempt.last_step is not None:
        return
    if attempt.ranks.filter(made__gt=0).exists() or Reader(attempt).metrics(STEP):
        return
    told = {"why": "no_step", "ranks": attempt.world_size}
    finding = Finding(ALONE, "job", "code", 0.0, since=None, probable=False, evidence=told)
    lifecycle.apply(attempt, [finding], kinds=(ALONE,), step=None, now=timezone.now())
