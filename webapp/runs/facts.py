"""The three facts with their ages, and the numbers of the list row: cheap updates, many a second."""

import time
from datetime import datetime
from typing import Any

from webapp.live.publish import list_changed
from webapp.runs.models import Attempt, Run

_LIST_EVERY_S = 1.0
_last_told: dict[int, float] = {}


def note_data(
    attempt: Attempt,
    *,
    now: datetime,
    last_step: int | None,
    total_steps: int | None,
    steps_per_s: float | None,
    last_loss: float | None,
    loss_text: str,
    loss_since: int | None,
    spark: list[float | None] | None,
) -> None:
    """Data was stored: write the facts and the summary row, only what changed. Called inside ingest's transaction."""
    moved = last_step is not None and (attempt.last_step is None or last_step > attempt.last_step)
    facts: dict[str, Any] = {"telemetry_at": now}
    if last_step is not None and last_step != attempt.last_step:
        facts["last_step"] = last_step  # it may also turn out that steps were counted from elsewhere
    if moved:
        facts["progress_at"] = now
    _update(attempt, facts)
    run = attempt.run
    if run.attempt_count != attempt.number:
        return
    summary = {
        "last_step": last_step,
        "total_steps": run.spec.get("total_steps") or total_steps,
        "steps_per_s": steps_per_s,
        "last_loss": last_loss,
        "loss_text": loss_text,
        "loss_since": loss_since,
        "spark": spark,
    }
    known = {name: value for name, value in summary.items() if value is not None}
    if loss_text:
        known["last_loss"] = None  # NaN or infinite: the text says it
    changed = {name: value for name, value in known.items() if getattr(run, name) != value}
    if changed:
        Run.objects.filter(pk=run.pk, attempt_count=attempt.number).update(**changed)
        for name, value in changed.items():
            setattr(run, name, value)
        _tell_list(run)


def note_process(attempt_id: int, at: datetime) -> None:
    """Every node of the attempt said that its processes live, the oldest word at `at`."""
    Attempt.objects.filter(pk=attempt_id).update(process_at=at)


def _update(attempt: Attempt, fields: dict[str, Any]) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(**fields)
    for name, value in fields.items():
        setattr(attempt, name, value)


def _tell_list(run: Run) -> None:
    now = time.monotonic()
    if now - _last_told.get(run.pk, -_LIST_EVERY_S) >= _LIST_EVERY_S:
        _last_told[run.pk] = now
        list_changed(run)
