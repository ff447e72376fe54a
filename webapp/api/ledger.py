"""`/runs/{id}/ledger`: what became of every step record of an attempt, rank by rank."""

from typing import Any

import numpy as np
import numpy.typing as npt
from django.http import HttpRequest
from ninja import Router
from ninja.params.functions import Query

from webapp.api.lookup import attempt_named
from webapp.api.schemas import Failure, LedgerOut
from webapp.runs.models import Attempt, RankState, Status
from webapp.telemetry import read

router = Router(tags=["runs"])

STEPS = "steps"  # what a node says that it dropped
_UNSEEN = {False: "pending", True: "unknown"}  # by whether the attempt has ended


@router.get("/{run_id}/ledger", response={200: LedgerOut, 404: Failure}, summary="Steps made, sent, stored and dropped")
def ledger(request: HttpRequest, run_id: str, attempt: int | None = Query(None, ge=1)) -> dict[str, Any]:
    """`gaps` lists the steps that are not stored and why: the node's reason, or `pending` while the attempt lives."""
    found = attempt_named(request, run_id, attempt)
    series = read.series(found, "phase/step")
    columns = [int(column) for column in series.columns]
    nothing = np.zeros(0, np.int64)
    reasons = _drop_reasons(found)
    ranks = {}
    for state in found.ranks.all():
        has = columns.index(state.rank) if state.rank in columns else None
        stored = nothing if has is None else series.index[series.present[:, has]]
        ranks[str(state.rank)] = _account(state, stored, reasons.get(state.rank, _UNSEEN[found.status == Status.ENDED]))
    return {"attempt": found.number, "ranks": ranks}


def _account(state: RankState, stored: npt.NDArray[np.int64], reason: str) -> dict[str, Any]:
    """Steps are numbered from 0 in each process, so the last number says how many were made."""
    dropped = state.dropped.get(STEPS, 0) + _lost_in_the_rank(state)
    last = max(-1 if state.made is None else state.made - 1, int(stored[-1]) if stored.size else -1)
    made = max(last + 1, stored.size + dropped)
    return {
        "made": made,
        "sent": made - dropped,
        "stored": int(stored.size),
        "dropped": dropped,
        "gaps": [[first, end, reason] for first, end in _missing(stored, last)],
    }


def _lost_in_the_rank(state: RankState) -> int:
    """Steps that never reached the ring, as the probe counts them."""
    told = state.facts.get("dropped")
    count = told.get(STEPS) if isinstance(told, dict) else 0
    return count if isinstance(count, int) and count > 0 else 0


def _drop_reasons(attempt: Attempt) -> dict[int, str]:
    """Rank to the last word on why it has gaps: its node's, or that the probe could not read a step's times."""
    reasons = {state.rank: "unreadable" for state in attempt.ranks.all() if _lost_in_the_rank(state)}
    events = attempt.events.filter(kind="dropped", data__what=STEPS).order_by("pk")
    told = {event.rank: event.data.get("reason") or "dropped" for event in events if event.rank is not None}
    return {**reasons, **told}


def _missing(stored: npt.NDArray[np.int64], last: int) -> list[tuple[int, int]]:
    """Runs of numbers in 0 … last that `stored` (ascending) lacks, both ends inclusive."""
    edges = np.concatenate([[-1], stored, [last + 1]])
    jumps = np.flatnonzero(np.diff(edges) > 1)
    return [(int(edges[k]) + 1, int(edges[k + 1]) - 1) for k in jumps]
