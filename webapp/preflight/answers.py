"""What nodes answer, as the verdict reads it. What cannot be read counts as not told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MEASURED = ("mb_s", "rtt_ms")
WORDS = ("error", "meeting")
_LONGEST_WORD = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """One node of a check. `presence`: models.Presence; `is_busy`: another run used its links."""

    name: str
    presence: str = "measured"
    is_busy: bool = False
    address: str = ""
    agent_version: str = ""
    clock_offset: float | None = None  # seconds
    clock_error: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """From one node to another one. `usual_…`: the medians of this pair's past checks, None without enough of them.

    `error`: refused, unreachable, silent, broken, late; `meeting`: the same, of the rendezvous ports alone.
    """

    mb_s: float | None = None
    rtt_ms: float | None = None
    error: str = ""
    meeting: str = ""
    usual_mb_s: float | None = None
    usual_rtt_ms: float | None = None


def checked_link(told: Any) -> dict[str, Any]:
    """One entry of a node's `links`: numbers that can be, and short words."""
    if not isinstance(told, Mapping):
        return {}
    numbers = {name: float(told[name]) for name in MEASURED if _is_measured(told.get(name))}
    return numbers | {name: told[name][:_LONGEST_WORD] for name in WORDS if isinstance(told.get(name), str)}


def better(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Of two measurements of the same link: a link that can do it once can do it."""
    rates = [of["mb_s"] for of in (one, other) if "mb_s" in of]
    trips = [of["rtt_ms"] for of in (one, other) if "rtt_ms" in of]
    found: dict[str, Any] = {}
    if rates:
        found["mb_s"] = max(rates)
    if trips:
        found["rtt_ms"] = min(trips)
    for name in WORDS:
        if one.get(name) and other.get(name):
            found[name] = other[name]
    return found


def _is_measured(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
