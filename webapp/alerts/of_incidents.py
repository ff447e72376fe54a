"""Whether a rule on incidents takes one up. Pure, live and on the past."""

from collections.abc import Sequence
from dataclasses import dataclass

ORDER = ("info", "warning", "critical")
HANG = "hang"


@dataclass(frozen=True, slots=True)
class Wanted:
    """`kinds` empty: all; `least_slowdown` 0.05: a step takes 5 % longer or more."""

    kinds: Sequence[str]
    least_severity: str
    least_slowdown: float


def wants(wanted: Wanted, kind: str, severity: str, slowdown: float) -> bool:
    """A job that hangs has no slowdown and is worse than any."""
    if wanted.kinds and kind not in wanted.kinds:
        return False
    if ORDER.index(severity) < ORDER.index(wanted.least_severity):
        return False
    return kind == HANG or slowdown >= wanted.least_slowdown
