"""One rank's slot time, split. Pure; the parts of a slot always add up to the time from its asking to its end."""

from dataclasses import dataclass

import numpy as np

from webapp.telemetry.blocks import Floats

PARTS = ("queued", "starting", "useful", "repeated", "waiting", "stalled", "idle")
STALL_S = 5.0
STALL_STEPS = 10.0  # times the typical step


@dataclass(frozen=True, slots=True)
class Clock:
    """Epoch seconds of one slot: asked for, given (None: never), over; and when its process had left (None: lives)."""

    created: float
    placed: float | None
    end: float
    left: float | None


@dataclass(frozen=True, slots=True)
class Steps:
    """A rank's steps in rows, each of one step or of several that follow each other; at least one row.

    `begin`: epoch seconds of the first step's beginning. Per row: `ends`, of its last step; `counts`, its steps;
    `waits`, seconds in which it waited for other ranks; `longest`, seconds of its longest step; `again`, the share of
    it that a later attempt did again.
    """

    begin: float
    ends: Floats
    counts: Floats
    waits: Floats
    longest: Floats
    again: Floats


def split(clock: Clock, steps: Steps | None) -> dict[str, float]:
    """Seconds of each of PARTS."""
    end = max(clock.created, clock.end)
    placed = end if clock.placed is None else _inside(clock.placed, clock.created, end)
    left = end if clock.left is None else _inside(clock.left, placed, end)
    parts = dict.fromkeys(PARTS, 0.0) | {"queued": placed - clock.created}
    if steps is None:
        return parts | {"starting": left - placed, "idle": end - left}
    times = np.maximum.accumulate(np.clip(np.concatenate([[steps.begin], steps.ends]), placed, end))
    took = np.diff(times)
    limit = _limit(took, steps)
    stalled = _stalled(took, steps, limit)
    main = (took - stalled) * (1 - steps.again)
    waiting = np.minimum(main, np.maximum(0.0, np.nan_to_num(steps.waits) - stalled) * (1 - steps.again))
    last = float(times[-1])
    since = max(0.0, left - last)  # a step under way, or nothing any more
    hung = max(0.0, since - limit)
    under_way = since - hung if clock.left is None else 0.0
    return parts | {
        "starting": float(times[0]) - placed,
        "useful": float((main - waiting).sum()) + under_way,
        "repeated": float(((took - stalled) * steps.again).sum()),
        "waiting": float(waiting.sum()),
        "stalled": float(stalled.sum()) + hung,
        "idle": end - last - hung - under_way,
    }


def _limit(took: Floats, steps: Steps) -> float:
    """Seconds after which a step that does not end counts as stalled."""
    return max(STALL_S, STALL_STEPS * _typical(took, steps))


def _typical(took: Floats, steps: Steps) -> float:
    return float(np.median(took / np.maximum(1.0, steps.counts)))


def _stalled(took: Floats, steps: Steps, limit: float) -> Floats:
    """Of a step longer than the limit all above a typical one; of a row of several as if one of them had stalled."""
    typical = _typical(took, steps)
    slowest = np.maximum(took - np.maximum(0.0, steps.counts - 1) * typical, np.nan_to_num(steps.longest))
    hangs = (slowest > limit) & ((steps.counts <= 1) | (np.nan_to_num(steps.longest) > limit))
    return np.where(hangs, np.clip(slowest - typical, 0.0, took), 0.0)


def _inside(moment: float, low: float, high: float) -> float:
    return min(max(moment, low), high)
