"""What one run showed: its incidents, and when it made its steps."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchmarks.detect.case import Case


@dataclass(frozen=True, slots=True)
class Spotted:
    """One incident, as it stood in the end. `at` is the time of its opening, epoch seconds; `limit_s` of a hang: for so
    long nothing may move before it is called one.
    """

    kind: str
    subject: str
    cause: str
    at: float
    opened_step: int | None
    slowdown: float
    sentence: str
    limit_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """`clock`: when each step ended, by its number. `acted_at`: when the lab did what it does."""

    case: Case
    spotted: tuple[Spotted, ...]
    clock: tuple[float, ...]
    acted_at: float | None
    sentence: str  # how the run ended

    @property
    def began_at(self) -> float:
        """When the fault began; without one never."""
        if self.acted_at is not None:
            return self.acted_at
        if self.case.onset is None or not self.case.expected:
            return float("inf")
        return self.clock[min(self.case.onset, len(self.clock)) - 1] if self.clock else float("inf")

    def steps_until(self, at: float) -> int:
        """Steps that ended between the fault's beginning and then."""
        return max(0, bisect_right(self.clock, at) - bisect_left(self.clock, self.began_at))


def spotted(incident: dict[str, Any]) -> Spotted:
    """From what the API says."""
    return Spotted(
        incident["kind"],
        incident["subject"],
        incident["cause"],
        datetime.fromisoformat(incident["opened_at"]).timestamp(),
        incident["opened_step"],
        incident["slowdown"],
        incident["sentence"],
        incident["evidence"].get("limit_s", 0.0),
    )
