"""What was seen against what is true. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.detect.case import Expected
from benchmarks.detect.seen import Seen, Spotted

_ABSTAINS = "telemetry"
_SOON = 1.0  # seconds by which clocks and the moment of an act may be off


@dataclass(frozen=True, slots=True)
class Found:
    """One expected incident and how it was told; None: it was missed."""

    expected: Expected
    spotted: Spotted | None
    steps: int = 0
    seconds: float = 0.0

    @property
    def right_subject(self) -> bool:
        return self.spotted is not None and self.spotted.subject in self.expected.subjects

    @property
    def right_cause(self) -> bool:
        return self.spotted is not None and self.spotted.cause in self.expected.causes

    @property
    def is_hang(self) -> bool:
        return self.spotted is not None and self.spotted.kind == "hang"

    @property
    def after_limit_s(self) -> float:
        """Of a hang: seconds from the moment at which it was one by definition."""
        return self.seconds - self.spotted.limit_s if self.spotted else 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one run. `abstained`: it was said that numbers are missing, which blames nobody."""

    seen: Seen
    found: tuple[Found, ...]
    false: tuple[Spotted, ...]
    abstained: tuple[Spotted, ...] = ()


def verdict(seen: Seen) -> Verdict:
    """Each incident answers for one expected one at most; the others are false."""
    left = list(seen.spotted)
    found = []
    for expected in seen.case.expected:
        one = _answer(expected, seen, left)
        if one is not None:
            left.remove(one)
            found.append(Found(expected, one, seen.steps_until(one.at), max(0.0, one.at - seen.began_at)))
        else:
            found.append(Found(expected, None))
    abstained = tuple(one for one in left if one.kind == _ABSTAINS)
    false = tuple(one for one in left if one.kind != _ABSTAINS)
    return Verdict(seen, tuple(found), false, abstained)


def scores(verdicts: Iterable[Verdict]) -> dict[str, float | int | None]:
    """The last line. Shares of 1; None where nothing was asked."""
    verdicts = list(verdicts)
    asked = [found for one in verdicts for found in one.found]
    told = [found for found in asked if found.spotted is not None]
    false = sum(len(one.false) for one in verdicts)
    healthy = [one for one in verdicts if one.seen.case.is_healthy]
    rank_steps = sum(len(one.seen.clock) * one.seen.case.ranks for one in healthy)
    hung = [found for found in told if found.is_hang]
    late = [found for one in verdicts if not one.seen.case.hangs for found in one.found if found.spotted]
    with_cause = [found for found in told if found.expected.causes]
    return {
        "recall": _share(len(told), len(asked)),
        "precision": _share(len(told), len(told) + false),
        "rank_accuracy": _right(told, "rank "),
        "link_accuracy": _right(told, "link ", "node "),
        "cause_accuracy": _share(sum(found.right_cause for found in with_cause), len(with_cause)),
        "p95_delay_steps": round(float(np.quantile([found.steps for found in late], 0.95)), 1) if late else None,
        "p95_delay_s": round(float(np.quantile([found.seconds for found in late], 0.95)), 1) if late else None,
        "hang_delay_s": round(max(found.seconds for found in hung), 1) if hung else None,
        "hang_after_limit_s": round(max(found.after_limit_s for found in hung), 1) if hung else None,
        "false_per_10000_rank_steps": round(1e4 * sum(len(one.false) for one in healthy) / rank_steps, 2)
        if rank_steps
        else None,
    }


def _answer(expected: Expected, seen: Seen, left: list[Spotted]) -> Spotted | None:
    """The first one with the right subject, else the first of the right kind."""
    fitting = [one for one in left if expected.is_of(one.kind) and one.at >= seen.began_at - _SOON]
    fitting.sort(key=lambda one: (one.subject not in expected.subjects, one.at))
    return fitting[0] if fitting else None


def _right(told: list[Found], *words: str) -> float | None:
    """How many of those about a rank, or a link, name the right one."""
    asked = [found for found in told if found.expected.subjects[0].startswith(words)]
    return _share(sum(found.right_subject for found in asked), len(asked))


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
