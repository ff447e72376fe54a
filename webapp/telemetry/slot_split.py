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
    typical = _typical(took, steps)
    limit = max(STALL_S, STALL_STEPS * typical)  # seconds after which a step that does not end counts as stalled
    stalled = _stalled(took, steps, typical, limit)
    main = (took - stalled) * (1 - steps.again)
    waiting = np.minimum(main, np.maximum(0.0, _known(steps.waits) - stalled) * (1 - steps.again))
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


def _known(values: Floats) -> Floats:
    return np.where(np.isnan(values), 0.0, values)


def _typical(took: Floats, steps: Steps) -> float:
    each = np.sort(took / np.maximum(1.0, steps.counts))
    return float(each[(each.size - 1) // 2] + each[each.size // 2]) / 2


def _stalled(took: Floats, steps: Steps, typical: float, limit: float) -> Floats:
    """Of a step longer than the limit all above a typical one; of a row of several as if one of them had stalled."""
    longest = _known(steps.longest)
    slowest = np.maximum(took - np.maximum(0.0, steps.counts - 1) * typical, longest)
    hangs = (slowest > limit) & ((steps.counts <= 1) | (longest > limit))
    return np.where(hangs, np.clip(slowest - typical, 0.0, took), 0.0)


def _inside(moment: float, low: float, high: float) -> float:
    return min(max(moment, low), high)
