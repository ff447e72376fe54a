"""What became of every step record of an attempt, rank by rank: for the page, the API and the export.

`account` is pure; `accounts` reads what it needs.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from webapp.runs.models import Attempt, Status
from webapp.telemetry.models import Parked
from webapp.telemetry.points import Points
from webapp.telemetry.presence import Span, Stored, stored_steps
from webapp.telemetry.read import Reader

STEPS = "steps"  # what a node says that it dropped
PENDING, NODE_LOST, PARKED, UNREADABLE, UNKNOWN = "pending", "node_lost", "parked", "unreadable", "unknown"
Gap = tuple[int, int, str]  # first step, last step, reason


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of one rank's records beside those that are stored. Steps are numbered from 0.

    `made`, `sent`: as its node counted, None when it said nothing; `dropped`: counted by the node; `lost`: by the
    probe, before they were records. `behind`, `between`: why steps are missing behind its last stored one, and before.
    """

    made: int | None = None
    sent: int | None = None
    dropped: int = 0
    lost: int = 0
    gaps: tuple[Gap, ...] = ()
    behind: str = UNKNOWN
    between: str = UNKNOWN


class _State(NamedTuple):
    """What is read of a rank: columns, for there may be a thousand. `facts__dropped`: as its probe counts."""

    rank: int
    node_rank: int
    made: int | None
    sent: int | None
    dropped: dict[str, int]
    gaps: list[Gap]
    facts__dropped: object


class _Part(NamedTuple):
    """What is read of a node's part in the attempt."""

    node_rank: int
    node_uid: str
    finished_at: datetime | None
    lost_at: datetime | None


@dataclass(frozen=True, slots=True)
class Account:
    """The records of one rank: counts, and what is missing with its reason; `last` is the last stored step or -1."""

    made: int
    sent: int
    stored: int
    dropped: int
    gaps: list[Gap]
    last: int


def account(told: Told, stored: Stored) -> Account:
    """Put together what a rank's node told and what is stored of it."""
    dropped = max(told.dropped, told.lost + sum(last - first + 1 for first, last, _reason in told.gaps))
    known_last = max([stored.last, *(last for _first, last, _reason in told.gaps)])
    made = max(known_last + 1, stored.count + dropped, 0 if told.made is None else told.made + told.lost)
    missing = [span for span in stored.missing if span[1] < stored.last]
    if made > stored.last + 1:
        missing.append((stored.last + 1, made - 1))
    sent = made - dropped if told.sent is None else max(stored.count, min(told.sent, made - dropped))
    gaps = [gap for span in missing for gap in _explained(span, told, stored.last)]
    return Account(made, sent, stored.count, dropped, gaps, stored.last)


def accounts(attempt: Attempt, young: dict[str, Points] | None = None) -> dict[int, Account]:
    """By rank, with steps numbered from 0. `young`: as a `Reader` takes it."""
    states = [_State(*row) for row in attempt.ranks.values_list(*_State._fields)]
    found = stored_steps(Reader(attempt, first_step=0, young=young), [state.rank for state in states])
    unseen = _Unseen(attempt)
    return {state.rank: account(unseen.told(state), found[state.rank]) for state in states}


def of_attempt(attempt: Attempt) -> dict[str, Any]:
    """`{attempt, ranks: {"0": {made, sent, stored, dropped, gaps: [[first, last, reason]]}}}` in the script's steps."""
    ranks = {str(rank): _shown(one, attempt.first_step) for rank, one in sorted(accounts(attempt).items())}
    return {"attempt": attempt.number, "ranks": ranks}


def _shown(one: Account, first_step: int) -> dict[str, Any]:
    gaps = [[first + first_step, last + first_step, reason] for first, last, reason in one.gaps]
    return {"made": one.made, "sent": one.sent, "stored": one.stored, "dropped": one.dropped, "gaps": gaps}


def _explained(span: Span, told: Told, last_stored: int) -> list[Gap]:
    """A missing span cut by what the node told of it; the rest has the rank's own reason."""
    first, last = span
    rest = told.behind if first > last_stored else told.between
    found: list[Gap] = []
    for begin, end, reason in sorted(told.gaps):
        if end < first or begin > last:
            continue
        if begin > first:
            found.append((first, begin - 1, rest))
        found.append((max(first, begin), min(last, end), reason))
        first = min(last, end) + 1
    return [*found, (first, last, rest)] if first <= last else found


class _Unseen:
    """Why records may be missing: what the parts, parked messages and events of one attempt say."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        parts = (_Part(*row) for row in attempt.parts.values_list(*_Part._fields))
        self._parts = {part.node_rank: part for part in parts}
        self._parked = set(Parked.objects.filter(attempt=attempt).values_list("node_uid", flat=True))

    def told(self, state: _State) -> Told:
        gaps = tuple((first, last, _word(reason)) for first, last, reason in state.gaps)
        dropped, lost = state.dropped.get(STEPS, 0), _lost_in_the_rank(state)
        unplaced = dropped - sum(last - first + 1 for first, last, _reason in gaps) > 0
        why = self._dropped_word(state.rank) if unplaced else UNREADABLE if lost else self._left(state)
        return Told(state.made, state.sent, dropped, lost, gaps, self._behind(state, why), why)

    def _behind(self, state: _State, why: str) -> str:
        part = self._parts.get(state.node_rank)
        if part is None or part.finished_at is not None:
            return why
        if part.lost_at is not None:
            return NODE_LOST
        return why if self.attempt.status == Status.ENDED else PENDING

    def _left(self, state: _State) -> str:
        part = self._parts.get(state.node_rank)
        return PARKED if part is not None and part.node_uid in self._parked else UNKNOWN

    def _dropped_word(self, rank: int) -> str:
        """Of a node that does not say which steps it dropped."""
        events = self.attempt.events.filter(kind="dropped", rank=rank, data__what=STEPS).order_by("-pk")
        newest = events.values_list("data__reason", flat=True).first()
        return _word(newest or "dropped")


def _word(reason: str) -> str:
    return UNREADABLE if reason == STEPS else reason


def _lost_in_the_rank(state: _State) -> int:
    """Steps that never became records, as the probe counts them."""
    told = state.facts__dropped
    count = told.get(STEPS) if isinstance(told, dict) else 0
    return count if isinstance(count, int) and count > 0 else 0
