"""When a rule fires, from readings alone. Pure: the live look and the try on the past both ask here."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from webapp.telemetry.blocks import Bools, Floats, Ints

ABOVE, BELOW, SILENT, NOT_FINITE = "above", "below", "silent", "nan"
SAME_AGAIN_S = 600.0  # what fires again sooner is the same alert


@dataclass(frozen=True, slots=True)
class Condition:
    """`window_s`: the value is the mean of so many seconds, 0: of one reading; of SILENT, how long nothing came;
    of NOT_FINITE it has no meaning. `hold_s`: for how long it must be so without a break.
    """

    comparison: str
    threshold: float
    window_s: float
    hold_s: float


@dataclass(frozen=True, slots=True)
class Readings:
    """Values over rising times, epoch seconds. Nothing is known after `until`; before `since` windows are not full.

    For NOT_FINITE every value is one that was logged, else a NaN stands for nothing.
    """

    times: Floats
    values: Floats
    until: float
    since: float = float("-inf")
    rolled: bool = False  # a value stands for many points
    whose: Ints | None = None  # the rank that each value is of, -1: of no one rank


@dataclass(frozen=True, slots=True)
class Firing:
    """From when to when, `until` None while it lasts, and the value at the beginning (of SILENT: seconds) and whose."""

    since: float
    until: float | None
    value: float
    rank: int | None = None


def fires(readings: Readings, condition: Condition) -> list[Firing]:
    """Every firing, oldest first. A value counts until the next one; a NaN is neither above nor below anything."""
    if condition.comparison == SILENT:
        return _silences(readings, condition)
    known = _known(readings, condition)
    times, values = readings.times[known], readings.values[known]
    whose = np.full(times.size, -1) if readings.whose is None else readings.whose[known]
    if condition.comparison != NOT_FINITE:
        values = _means(times, values, condition.window_s)
    judged = times >= readings.since
    times, values, whose = times[judged], values[judged], whose[judged]
    found = []
    for start, end in _stretches(_WRONG[condition.comparison](values, condition.threshold)):
        since = float(times[start]) + condition.hold_s
        over = float(times[end]) if end < times.size else None
        if since < over if over is not None else since <= readings.until:
            at = start + int(np.searchsorted(times[start:end], since, side="right")) - 1
            rank = int(whose[at])
            found.append(Firing(since, over, float(values[at]), rank if rank >= 0 else None))
    return found


def tells_now(readings: Readings, condition: Condition) -> bool:
    """Whether these readings, the newest ones of more, are enough to know whether it fires at `until`."""
    if condition.comparison == SILENT:
        return bool(readings.times.size)
    times = readings.times[_known(readings, condition)]
    return bool(((times >= readings.since) & (times <= readings.until - condition.hold_s)).any())


def together(firings: list[Firing]) -> list[Firing]:
    """The alerts that firings make: one that comes again within SAME_AGAIN_S goes on."""
    alerts: list[Firing] = []
    for firing in firings:
        last = alerts[-1] if alerts else None
        if last is not None and last.until is not None and firing.since - last.until < SAME_AGAIN_S:
            alerts[-1] = replace(last, until=firing.until)
        else:
            alerts.append(firing)
    return alerts


def _known(readings: Readings, condition: Condition) -> Bools:
    """The rows that say something."""
    if condition.comparison == NOT_FINITE:
        return np.ones(readings.values.size, bool)
    known: Bools = ~np.isnan(readings.values)
    return known


def _silences(readings: Readings, condition: Condition) -> list[Firing]:
    """What never came is not missed: silence is counted from a reading on."""
    least = condition.window_s + condition.hold_s
    ends: list[float | None] = [*readings.times[1:].tolist(), None]
    found = []
    for last, end in zip(readings.times.tolist(), ends, strict=False):
        if last + least < end if end is not None else last + least <= readings.until:
            found.append(Firing(last + least, end, least))
    return found


def _means(times: Floats, values: Floats, window_s: float) -> Floats:
    """Of the readings in (time - window_s, time]."""
    if window_s <= 0:
        return values
    first = np.searchsorted(times, times - window_s, side="right").tolist()
    with np.errstate(invalid="ignore", over="ignore"):
        return np.array([values[lo : hi + 1].mean() for hi, lo in enumerate(first)])


def _stretches(wrong: Bools) -> list[tuple[int, int]]:
    """[first, one after the last) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], wrong, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


_WRONG: dict[str, Callable[[Floats, float], Bools]] = {
    ABOVE: lambda values, limit: values > limit,
    BELOW: lambda values, limit: values < limit,
    NOT_FINITE: lambda values, _limit: ~np.isfinite(values),
}
