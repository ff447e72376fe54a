"""Slots' time, split. Pure; the parts of a slot always add up to the time from its asking to its end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from webapp.telemetry.blocks import Floats
from webapp.telemetry.spread import median

PARTS = ("queued", "starting", "useful", "repeated", "waiting", "stalled", "idle")
STALL_S = 5.0
STALL_STEPS = 10.0  # times the typical step


@dataclass(frozen=True, slots=True)
class Clocks:
    """Epoch seconds of slots that were asked for together: asked for, and over. Per slot: given (NaN: never), when its
    process had left (NaN: lives), and the server's clock minus the one of its steps.
    """

    created: float
    end: float
    placed: Floats
    left: Floats
    offset: Floats

    def of(self, slots: slice) -> "Clocks":
        """Of some slots."""
        return replace(self, placed=self.placed[slots], left=self.left[slots], offset=self.offset[slots])


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of slots in rows, each of one step or of several that follow each other.

    Per slot: `begin`, epoch seconds of the first step's beginning, NaN without steps. [slots, rows], all 0 where a slot
    has no step in a row: `ends`, epoch seconds of the last step's end; `counts`, its steps; `waits`, seconds in which
    it waited for other ranks; `longest`, seconds of its longest step, at will 0 where that is at most STALL_S. Per row:
    `again`, the share that a later attempt did again.
    """

    begin: Floats
    ends: Floats
    counts: Floats
    waits: Floats
    longest: Floats
    again: Floats


def rows_of(pieces: Sequence[Steps], slots: slice) -> Steps:
    """Some slots' rows of pieces that follow each other; of at least one."""
    begin = pieces[0].begin[slots]
    for piece in pieces[1:]:
        begin = np.where(np.isnan(begin), piece.begin[slots], begin)
    return Steps(
        begin=begin,
        ends=np.concatenate([piece.ends[slots] for piece in pieces], axis=1),
        counts=np.concatenate([piece.counts[slots] for piece in pieces], axis=1, dtype=np.float64),
        waits=np.concatenate([piece.waits[slots] for piece in pieces], axis=1),
        longest=np.concatenate([piece.longest[slots] for piece in pieces], axis=1),
        again=np.concatenate([piece.again for piece in pieces]),
    )


def split(clocks: Clocks, steps: Steps) -> dict[str, Floats]:
    """Seconds of each of PARTS, of each slot."""
    created, end = clocks.created, max(clocks.created, clocks.end)
    placed = np.where(np.isnan(clocks.placed), end, np.clip(clocks.placed, created, end))
    lives = np.isnan(clocks.left)
    left = np.where(lives, end, np.clip(clocks.left, placed, end))
    begin = np.where(np.isnan(steps.begin), left - clocks.offset, steps.begin)  # without a step it only started
    times = np.column_stack([begin, steps.ends])
    times += clocks.offset[:, None]
    np.maximum.accumulate(np.clip(times, placed[:, None], end, out=times), axis=1, out=times)
    took = np.diff(times, axis=1)
    typical = median(np.where(steps.counts > 0, took / np.maximum(1.0, steps.counts), np.nan), 1)
    limit = np.fmax(STALL_S, STALL_STEPS * typical)  # seconds after which a step that does not end counts as stalled
    stalled = _stalled(took, steps, typical, limit)
    moving = took - stalled
    waiting = np.minimum(moving, np.maximum(0.0, _known(steps.waits) - stalled))
    once = 1 - steps.again
    last = times[:, -1]
    since = np.maximum(0.0, left - last)  # a step under way, or nothing any more
    hung = np.maximum(0.0, since - limit)
    under_way = np.where(lives, since - hung, 0.0)
    return {
        "queued": placed - created,
        "starting": times[:, 0] - placed,
        "useful": (moving - waiting) @ once + under_way,
        "repeated": moving @ steps.again,
        "waiting": waiting @ once,
        "stalled": stalled.sum(axis=1) + hung,
        "idle": end - last - hung - under_way,
    }


def _known(values: Floats) -> Floats:
    return np.where(np.isnan(values), 0.0, values)


def _stalled(took: Floats, steps: Steps, typical: Floats, limit: Floats) -> Floats:
    """Of a step longer than the limit all above a typical one; of a row of several as if one of them had stalled."""
    stalled = np.zeros(took.shape)
    slot, row = np.nonzero((took > limit[:, None]) | (steps.longest > limit[:, None]))
    if slot.size:
        took, counts, longest = (values[slot, row] for values in (took, steps.counts, _known(steps.longest)))
        slowest = np.maximum(took - np.maximum(0.0, counts - 1) * typical[slot], longest)
        hangs = (slowest > limit[slot]) & ((counts <= 1) | (longest > limit[slot]))
        stalled[slot, row] = np.where(hangs, np.clip(slowest - typical[slot], 0.0, took), 0.0)
    return stalled
