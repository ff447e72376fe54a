"""The script's own number of the first step of an attempt's processes, from what their ranks tell. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST = 1 << 52


@dataclass(frozen=True, slots=True)
class Told:
    """What an attempt's ranks said of their steps.

    `difference`: the script's step minus the process's own count, which is also -1, 0 or 1 in a script that starts
    afresh, by when and from where it counts. `resumed_at`: the steps that a loaded optimizer had done.
    """

    difference: int | None = None
    resumed_at: int | None = None


def told(facts: Iterable[Mapping[str, Any]]) -> Told:
    """The word of the first rank that has one. `facts`: those of the ranks, in their order."""
    rows = list(facts)
    return Told(_first(rows, "own_step"), _first(rows, "resumed_at"))


def first_step(now: Told, earlier: Sequence[tuple[Told, int]]) -> int:
    """`earlier`: what the attempts before told, with their first steps, newest last."""
    if now.difference is None:
        return max(0, now.resumed_at or 0)
    for before, first in reversed(earlier):
        if before.difference is not None:
            return max(0, first + now.difference - before.difference)
    return now.difference if now.difference > 1 else 0


def _first(rows: list[Mapping[str, Any]], name: str) -> int | None:
    for row in rows:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST:
            return value
    return None
