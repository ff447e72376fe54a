"""`/runs/{id}/ledger`: what became of every step record of an attempt, rank by rank."""

from typing import Any

import numpy as np
import numpy.typing as npt
from django.http import HttpRequest
from ninja import Query, Router

from webapp.api.lookup import attempt_named
from webapp.api.schemas import Failure, LedgerOut
from webapp.runs.models import Attempt, RankState, Status
from webapp.telemetry import read

router = Router(tags=["runs"])

DROPPED_STEPS = "steps"  # the key of RankState.dropped that counts step records


@router.get("/{run_id}/ledger", response={200: LedgerOut, 404: Failure}, summary="Steps made, sent, stored and dropped")
def ledger(request: HttpRequest, run_id: str, attempt: int | None = Query(None, ge=1)) -> dict[str, Any]:
    """`gaps` lists the steps that are not stored: `dropped` on the node, or `pending` while the attempt lives."""
    found = attempt_named(request, run_id, attempt)
    series = read.series(found, "phase/step")
    columns = [int(column) for column in series.columns]
    nothing = np.zeros(0, np.int64)
    ranks = {}
    for state in found.ranks.all():
        has = columns.index(state.rank) if state.rank in columns else None
        stored = nothing if has is None else series.index[series.present[:, has]]
        ranks[str(state.rank)] = _account(found, state, stored)
    return {"attempt": found.number, "ranks": ranks}


def _account(attempt: Attempt, state: RankState, stored: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Steps are numbered from 0 in each process, so the last number says how many were made."""
    dropped = int(state.dropped.get(DROPPED_STEPS, 0))
    last = max(-1 if state.last_step is None else state.last_step, int(stored[-1]) if stored.size else -1)
    made = max(last + 1, stored.size + dropped)
    reason = "dropped" if dropped else ("unknown" if attempt.status == Status.ENDED else "pending")
    return {
        "made": made,
        "sent": made - dropped,
        "stored": int(stored.size),
        "dropped": dropped,
        "gaps": [[first, end, reason] for first, end in _missing(stored, last)],
    }


def _missing(stored: npt.NDArray[np.int64], last: int) -> list[tuple[int, int]]:
    """Runs of numbers in 0 … last that `stored` (ascending) lacks, both ends inclusive."""
    edges = np.concatenate([[-1], stored, [last + 1]])
    jumps = np.flatnonzero(np.diff(edges) > 1)
    return [(int(edges[k]) + 1, int(edges[k + 1]) - 1) for k in jumps]
