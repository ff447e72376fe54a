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
    """`earlier`: what the attempts before told, with their first steps, newest last.

    When a script names its step is a matter of moments: next to the optimizer's own count, that one is right.
    """
    if now.difference is None:
        return max(0, now.resumed_at or 0)
    found = _by_difference(now.difference, earlier)
    return now.resumed_at if now.resumed_at is not None and abs(found - now.resumed_at) <= 1 else found


def _by_difference(difference: int, earlier: Sequence[tuple[Told, int]]) -> int:
    for before, first in reversed(earlier):
        if before.difference is not None:
            return max(0, first + difference - before.difference)
    return difference if difference > 1 else 0


def apart(facts: Mapping[int, Mapping[str, Any]]) -> dict[int, list[int]]:
    """Step at which it goes on -> ranks, when the ranks of one attempt loaded different states; else empty.

    `facts`: by rank, of all ranks. One that has not told yet leaves it open.
    """
    if not all("resumed_at" in row for row in facts.values()):
        return {}
    groups: dict[int, list[int]] = {}
    for rank, row in sorted(facts.items()):
        groups.setdefault(_first([row], "resumed_at") or 0, []).append(rank)
    return groups if len(groups) > 1 else {}


def _first(rows: list[Mapping[str, Any]], name: str) -> int | None:
    for row in rows:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST:
            return value
    return None
