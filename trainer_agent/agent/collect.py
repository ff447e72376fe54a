"""Reads the ranks' rings and facts into columns for one batch."""

import struct
from dataclasses import dataclass
from typing import Any

from trainer_agent.wire import record
from trainer_agent.wire.messages import METRIC_OF_PHASE, Event, StepColumns, ValueColumns
from trainer_agent.wire.record import StepRecord, ValueRecord
from trainer_agent.wire.ring_reader import facts_reader, step_reader, value_reader

STEPS_PER_BATCH = 4_096  # per rank
VALUES_PER_BATCH = 8_192
Steps = list[tuple[int, StepRecord]]
Values = list[tuple[int, str, ValueRecord]]


@dataclass(frozen=True, slots=True)
class Gap:
    """Step records that were overwritten before we came; `first` and `last`: numbers of their steps."""

    count: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Step records of one rank: how many it wrote, and how many of these were taken."""

    made: int
    taken: int


class RankRings:
    """The three files of one rank, read from a known position on."""

    def __init__(self, ring_dir: str, rank: int, position: dict[str, int]) -> None:
        self.rank = rank
        self.position = {"steps": 0, "values": 0, "facts": 0, "overwritten": 0} | position
        self._steps = step_reader(ring_dir, rank)
        self._values = value_reader(ring_dir, rank)
        self._facts = facts_reader(ring_dir, rank)
        self._facts_to_skip = self.position["facts"]

    def made(self) -> int | None:
        """Step records that the rank has written, None while it has no ring."""
        header = self._steps.header()
        return None if header is None else header.seq

    def steps(self) -> tuple[list[StepRecord], list[Gap]]:
        """New step records, and what was overwritten between them and those before."""
        records, _ = self._steps.read_new(self.position["steps"], STEPS_PER_BATCH)
        gaps = []
        before = self.position["steps"]
        if records and records[0].seq <= before:  # the ring was made anew
            before = 0
        for record_ in records:
            missing = record_.seq - before - 1
            if missing:
                gaps.append(Gap(missing, max(0, record_.step - missing), max(0, record_.step - 1)))
            before = record_.seq
        self.position["steps"] = before
        self.position["overwritten"] += sum(gap.count for gap in gaps)
        return records, gaps

    def values(self) -> tuple[list[ValueRecord], int]:
        """New user values and how many were overwritten before we came."""
        records, _ = self._values.read_new(self.position["values"], VALUES_PER_BATCH)
        before = self.position["values"]
        if not records:
            return [], 0
        self.position["values"] = records[-1].seq
        return records, max(0, records[-1].seq - before - len(records))

    def facts(self) -> list[dict[str, Any]]:
        """New facts. After a restart of the agent the file is read again, for the names of its keys."""
        found = [line["facts"] for line in self._facts.read_new() if isinstance(line.get("facts"), dict)]
        new = found[self._facts_to_skip :]
        self._facts_to_skip = max(0, self._facts_to_skip - len(found))
        self.position["facts"] += len(new)
        return new

    def losses_in(self, fact: dict[str, Any]) -> list[tuple[str, int, str]]:
        """What the rank itself could not hand over since its last count: (what, count, reason)."""
        found = []
        for reason, count in fact.get("dropped", {}).items():
            new = int(count) - self.position.get(f"lost {reason}", 0)
            if new > 0:
                self.position[f"lost {reason}"] = int(count)
                found.append(("steps" if reason == "steps" else "values", new, reason))
        return found

    def name_of(self, key: int) -> str:
        """Name of a key; read the facts after the values, so that it is there."""
        return self._facts.keys.get(key, f"key {key}")

    def close(self) -> None:
        """Let go of the files."""
        self._steps.close()
        self._values.close()


class Collector:
    """All ranks of one attempt on this node."""

    def __init__(self, ring_dir: str, ranks: range, positions: dict[int, dict[str, int]]) -> None:
        self._ring_dir = ring_dir
        self._rings = [RankRings(ring_dir, rank, positions.get(rank, {})) for rank in ranks]

    def follow(self, rank: int) -> None:
        """Read one more rank from its beginning."""
        self._rings.append(RankRings(self._ring_dir, rank, {}))

    @property
    def positions(self) -> dict[int, dict[str, int]]:
        """How far everything was read, for the cursor."""
        return {rings.rank: dict(rings.position) for rings in self._rings}

    def counts(self, positions: dict[int, dict[str, int]]) -> dict[int, Counts]:
        """Step records of each rank that has written any, of them taken up to these positions."""
        found = {}
        for rings in self._rings:
            made = rings.made()
            if made is not None:
                at = positions.get(rings.rank, {})
                found[rings.rank] = Counts(made, at.get("steps", 0) - at.get("overwritten", 0))
        return found

    def take(self, at: float, held_back: str = "") -> tuple[list[StepColumns], list[ValueColumns], list[Event]]:
        """What is new: columns, and events for facts and for data that was lost.

        `held_back`: why nothing was taken for a while before; what was overwritten meanwhile was lost for it.
        """
        steps: Steps = []
        values: Values = []
        events: list[Event] = []
        reason = held_back or "overwritten"
        for rings in self._rings:
            new_steps, gaps = rings.steps()
            new_values, lost_values = rings.values()
            losses = [("values", lost_values, reason)] if lost_values else []
            for fact in rings.facts():
                events.append(Event(kind="rank_facts", at=at, rank=rings.rank, data=fact))
                losses += rings.losses_in(fact)
            steps += [(rings.rank, step) for step in new_steps]
            values += [(rings.rank, rings.name_of(value.key), value) for value in new_values]
            events += [
                dropped_event(at, rings.rank, "steps", g.count, reason, first=g.first, last=g.last) for g in gaps
            ]
            events += [dropped_event(at, rings.rank, what, n, why) for what, n, why in losses]
        return ([step_columns(steps)] if steps else []), value_columns(values), events

    def close(self) -> None:
        """Let go of the files."""
        for rings in self._rings:
            rings.close()


def dropped_event(at: float, rank: int | None, what: str, count: int, reason: str, **steps: int) -> Event:
    """Data that will never come. `steps`: `first` and `last`, where it is known which."""
    return Event(kind="dropped", at=at, rank=rank, data={"what": what, "count": count, "reason": reason, **steps})


def step_columns(steps: Steps) -> StepColumns:
    """Columns of step records, all ranks together."""
    us = list(zip(*(step.us for _, step in steps), strict=True))
    return StepColumns(
        n=len(steps),
        rank=u4([rank for rank, _ in steps]),
        step=i8([step.step for _, step in steps]),
        end=f8([step.end for _, step in steps]),
        columns={METRIC_OF_PHASE[phase]: u4(us[i]) for i, phase in enumerate(record.PHASES)},
        nbytes=f8([step.nbytes for _, step in steps]),
        flags=u4([step.flags for _, step in steps]),
    )


def value_columns(values: Values) -> list[ValueColumns]:
    """Columns of user values, one message per key."""
    by_key: dict[str, Values] = {}
    for value in values:
        by_key.setdefault(value[1], []).append(value)
    return [
        ValueColumns(
            key=key,
            n=len(some),
            rank=u4([rank for rank, _, _ in some]),
            step=i8([value.step for _, _, value in some]),
            time=f8([value.time for _, _, value in some]),
            value=f8([value.value for _, _, value in some]),
        )
        for key, some in by_key.items()
    ]


def u4(numbers: Any) -> bytes:
    """Little-endian unsigned 32 bit."""
    return struct.pack(f"<{len(numbers)}I", *numbers)


def i8(numbers: Any) -> bytes:
    """Little-endian signed 64 bit."""
    return struct.pack(f"<{len(numbers)}q", *numbers)


def f8(numbers: Any) -> bytes:
    """Little-endian double."""
    return struct.pack(f"<{len(numbers)}d", *numbers)
