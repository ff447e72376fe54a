"""Rows to the JSON shapes that people and scripts rely on."""

import math
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db.models import F
from django.urls import reverse

from webapp.provenance.queries import NO_CODE, commits
from webapp.runs import wording
from webapp.runs.command_line import shown_command
from webapp.runs.models import Attempt, Run, Status
from webapp.runs.spec import RunSpec


def show(run: Run) -> dict[str, Any]:
    """One run; see `schemas.RunOut`."""
    return show_all([run])[0]


def show_all(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Many runs, in three queries however many they are. `project` and `owner` should be loaded already."""
    newest = {attempt.run_id: attempt for attempt in _newest_attempts(runs)}
    code = commits([attempt.pk for attempt in newest.values()])
    return [_shape(run, newest.get(run.pk)) | code.get(run.pk, NO_CODE) for run in runs]


def _newest_attempts(runs: Sequence[Run]) -> list[Attempt]:
    found = Attempt.objects.filter(run__in=[run.pk for run in runs], number=F("run__attempt_count"))
    return list(found.select_related("run").prefetch_related("parts"))


def _shape(run: Run, attempt: Attempt | None) -> dict[str, Any]:
    spec = RunSpec.stored(run.spec)
    return {
        "id": run.uid,
        "name": run.name,
        "project": run.project.slug,
        "status": run.status,
        "outcome": run.outcome or None,
        "cause": run.cause or None,
        "world_size": run.world_size,
        "nodes": spec.nodes,
        # Steps are numbered from 0.
        "steps": 0 if run.last_step is None else run.last_step + 1,
        "attempt": run.attempt_count,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "url": settings.PUBLIC_URL.rstrip("/") + reverse("runs:detail", args=[run.uid]),
        "owner": run.owner.username,
        "reason": run.reason,
        "sentence": _sentence(run, attempt),
        "cleanup": wording.cleanup_sentence(attempt) if attempt else "",
        "command": shown_command(spec),
        "total_steps": run.total_steps,
        "steps_per_s": _finite(run.steps_per_s),
        "last_loss": _finite(run.last_loss),
        "node_names": [part.node_name for part in attempt.parts.all()] if attempt else [],
        "spec": run.spec,
    }


def _sentence(run: Run, attempt: Attempt | None) -> str:
    if attempt is None:
        return ""
    return wording.waits_sentence(attempt) if run.status == Status.QUEUED else wording.outcome_sentence(attempt)


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None
