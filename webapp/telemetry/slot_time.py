"""Where the slot time of a run went: queued, starting, useful, repeated, waiting, stalled, idle; in slot-seconds.

`of_run` and `of_attempt` give `{slots, wall_s, queued, …, idle}`; the seven add up to slots x wall time.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import numpy as np
from django.utils import timezone

from webapp.runs.models import Attempt, Run
from webapp.telemetry.run_read import RunReader
from webapp.telemetry.slot_rows import pieces_of
from webapp.telemetry.slot_split import PARTS, Clocks, rows_of, split
from webapp.telemetry.stitch import cut_of

Hours = dict[str, Any]
_TOGETHER = 64  # slots: what is worked out of so many stays in the processor's cache
_UNTIL = "until"  # of stored hours: from which step on a later attempt did the work again


def of_run(run: Run, now: datetime | None = None) -> Hours:
    """All attempts together. `slots` are the run's; `wall_s` is the time for which so many were asked for."""
    return together(run, of_attempts(run, now).values())


def of_attempts(run: Run, now: datetime | None = None) -> dict[int, Hours]:
    """Each attempt by its number."""
    reader = RunReader(run)
    return {one.number: _known_or_made(one, cut_of(one.number, reader.spans), now) for one in reader.attempts}


def together(run: Run, attempts: Iterable[Hours]) -> Hours:
    """Hours of attempts as those of the run."""
    each, slots = list(attempts), run.world_size
    held = sum(one["slots"] * one["wall_s"] for one in each)
    return {"slots": slots, "wall_s": held / max(1, slots), **{part: sum(one[part] for one in each) for part in PARTS}}


def of_attempt(attempt: Attempt, until: int | None = None, now: datetime | None = None) -> Hours:
    """One attempt. `until`: the first step, by the script's own count, that a later attempt did again."""
    clocks = _clocks(attempt, now or timezone.now())
    pieces = pieces_of(attempt, None if until is None else until - attempt.first_step)
    parts = dict.fromkeys(PARTS, 0.0)
    for first in range(0, attempt.world_size, _TOGETHER):
        slots = slice(first, first + _TOGETHER)
        for part, seconds in split(clocks.of(slots), rows_of(pieces, slots)).items():
            parts[part] += float(seconds.sum())
    return {"slots": attempt.world_size, "wall_s": max(0.0, clocks.end - clocks.created), **parts}


def store(attempt: Attempt) -> None:
    """Keep the hours of an attempt that is wholly stored, and again of those before it whose steps it did again."""
    reader = RunReader(attempt.run)
    for one in reader.attempts:
        until = cut_of(one.number, reader.spans)
        if one.number <= attempt.number and one.compacted and not _is_known(one, until):
            Attempt.objects.filter(pk=one.pk).update(hours={**of_attempt(one, until), _UNTIL: until})


def _is_known(attempt: Attempt, until: int | None) -> bool:
    return bool(attempt.compacted and attempt.hours) and attempt.hours.get(_UNTIL) == until


def _known_or_made(attempt: Attempt, until: int | None, now: datetime | None) -> Hours:
    return attempt.hours if _is_known(attempt, until) else of_attempt(attempt, until, now)


def _clocks(attempt: Attempt, now: datetime) -> Clocks:
    """When each rank's slot was asked for, given, left by its process, and given back, in server time."""
    given = attempt.created_at if attempt.run.is_attached else attempt.placed_at
    placed, left, offset = (np.full(attempt.world_size, value) for value in (np.nan, np.nan, 0.0))
    parts = attempt.parts.values_list("node_rank", "finished_at", "node__clock_offset")
    nodes = {node_rank: (finished, behind or 0.0) for node_rank, finished, behind in parts}
    ranks = attempt.ranks.filter(rank__lt=attempt.world_size)
    for rank, node_rank, exited in ranks.values_list("rank", "node_rank", "exited_at"):
        finished, offset[rank] = nodes.get(node_rank, (None, 0.0))
        gone = exited or finished
        placed[rank] = given.timestamp() if given else np.nan
        left[rank] = gone.timestamp() if gone else np.nan
    created, end = attempt.created_at.timestamp(), (attempt.ended_at or now).timestamp()
    return Clocks(created, end, placed, left, offset)
