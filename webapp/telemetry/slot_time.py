"""Where the slot time of a run went: queued, starting, useful, repeated, waiting, stalled, idle; in slot-seconds.

`of_run` and `of_attempt` give `{slots, wall_s, queued, …, idle}`; the seven add up to slots x wall time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.utils import timezone

from webapp.runs.models import Attempt, Run
from webapp.telemetry.blocks import Block, Bools, Floats, Ints
from webapp.telemetry.merge import stride
from webapp.telemetry.points import STEP, STEP_END, WAIT
from webapp.telemetry.read import Reader
from webapp.telemetry.run_read import RunReader
from webapp.telemetry.slot_split import PARTS, Clock, Steps, split
from webapp.telemetry.stitch import cut_of

Hours = dict[str, Any]
_ROWS = 1_500
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
    now = now or timezone.now()
    clocks = _clocks(attempt, now)
    created = attempt.created_at.timestamp()
    wall = max(0.0, (attempt.ended_at or now).timestamp() - created)
    steps = _steps(attempt, None if until is None else until - attempt.first_step)
    parts = dict.fromkeys(PARTS, 0.0)
    for rank in range(attempt.world_size):
        clock = clocks.get(rank) or Clock(created, None, created + wall, None)
        for part, seconds in split(clock, steps.get(rank)).items():
            parts[part] += seconds
    return {"slots": attempt.world_size, "wall_s": wall, **parts}


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


def _clocks(attempt: Attempt, now: datetime) -> dict[int, Clock]:
    """When each rank's slot was asked for, given, left by its process, and given back, in server time."""
    end = (attempt.ended_at or now).timestamp()
    given = attempt.created_at if attempt.run.is_attached else attempt.placed_at
    placed = given.timestamp() if given else None
    exits = dict(attempt.ranks.values_list("rank", "exited_at"))
    finished = dict(attempt.parts.values_list("node_rank", "finished_at"))
    clocks = {}
    for rank, node_rank in attempt.ranks.values_list("rank", "node_rank"):
        left = exits.get(rank) or finished.get(node_rank)
        clocks[rank] = Clock(attempt.created_at.timestamp(), placed, end, left.timestamp() if left else None)
    return clocks


def _steps(attempt: Attempt, until: int | None) -> dict[int, Steps]:
    """The steps of each rank as few rows, by the server's clock. `until`: as stored."""
    reader = Reader(attempt, first_step=0)
    view = reader.view(STEP_END)
    level = view.level_for(_ROWS)
    ends, lengths, waits = (_table(one.at(level)) for one in (view, reader.view(STEP), reader.view(WAIT)))
    if not ends.index.size:
        return {}
    opening = reader.series(STEP, lo=view.first, hi=view.first)
    first = dict(zip(opening.columns, np.nan_to_num(opening.values).sum(axis=0).tolist(), strict=True))
    offsets = _clock_offsets(attempt)
    again = _share_again(ends.index, stride(level), until)
    found = {}
    for k, rank in enumerate(ends.columns):
        rows = ends.present[:, k]
        index = ends.index[rows]
        offset = offsets.get(rank, 0.0)
        found[rank] = Steps(
            begin=float(ends.mins[rows, k][0]) - first.get(rank, 0.0) + offset,
            ends=ends.maxs[rows, k] + offset,
            counts=ends.counts[rows, k],
            waits=waits.of(rank, index, waits.sums),
            longest=lengths.of(rank, index, lengths.maxs),
            again=again[rows],
        )
    return found


@dataclass(frozen=True, slots=True)
class _Table:
    """A block with what its rows hold, whatever its level: [rows, columns]."""

    index: Ints
    columns: dict[int, int]  # their places
    present: Bools
    mins: Floats
    maxs: Floats
    sums: Floats
    counts: Floats

    def of(self, rank: int, index: Ints, values: Floats) -> Floats:
        """A rank's values at these indexes, 0 where it has none."""
        found = np.zeros(index.size)
        if rank in self.columns and self.index.size:
            at = np.minimum(np.searchsorted(self.index, index), self.index.size - 1)
            column = self.columns[rank]
            there = (self.index[at] == index) & self.present[at, column]
            found[there] = np.nan_to_num(values[at[there], column])
        return found


def _table(block: Block) -> _Table:
    columns = {column: place for place, column in enumerate(block.columns.tolist())}
    rolled = block.rolled
    if rolled is None:
        ones = block.present.astype(np.float64)
        return _Table(block.index, columns, block.present, block.values, block.values, block.values, ones)
    counts = rolled.counts.astype(np.float64)
    return _Table(block.index, columns, block.present, rolled.mins, rolled.maxs, block.values * counts, counts)


def _share_again(index: Ints, step: int, until: int | None) -> Floats:
    """How much of each row lies at or behind `until`."""
    if until is None:
        return np.zeros(index.size)
    return np.clip((index + step - until) / step, 0.0, 1.0)


def _clock_offsets(attempt: Attempt) -> dict[int, float]:
    """Server minus node, by rank."""
    known = dict(attempt.parts.values_list("node_rank", "node__clock_offset"))
    return {rank: known.get(node) or 0.0 for rank, node in attempt.ranks.values_list("rank", "node_rank")}
