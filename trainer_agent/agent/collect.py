"""Reads the ranks' rings and facts into columns for one batch."""

import struct
from typing import Any

from trainer_agent.wire import record
from trainer_agent.wire.messages import METRIC_OF_PHASE, Event, StepColumns, ValueColumns
from trainer_agent.wire.record import StepRecord, ValueRecord
from trainer_agent.wire.ring_reader import facts_reader, step_reader, value_reader

STEPS_PER_BATCH = 4_096  # per rank
VALUES_PER_BATCH = 8_192
Steps = list[tuple[int, StepRecord]]
Values = list[tuple[int, str, ValueRecord]]


class RankRings:
    """The three files of one rank, read from a known position on."""

    def __init__(self, ring_dir: str, rank: int, position: dict[str, int]) -> None:
        self.rank = rank
        self.position = {"steps": 0, "values": 0, "facts": 0} | position
        self._steps = step_reader(ring_dir, rank)
        self._values = value_reader(ring_dir, rank)
        self._facts = facts_reader(ring_dir, rank)
        self._facts_to_skip = self.position["facts"]

    def steps(self) -> tuple[list[StepRecord], int]:
        """New step records and how many were overwritten before we came."""
        records, dropped = self._steps.read_new(self.position["steps"], STEPS_PER_BATCH)
        self.position["steps"] = records[-1].seq if records else self.position["steps"] + dropped
        return records, dropped

    def values(self) -> tuple[list[ValueRecord], int]:
        """New user values and how many were overwritten before we came."""
        records, dropped = self._values.read_new(self.position["values"], VALUES_PER_BATCH)
        self.position["values"] = records[-1].seq if records else self.position["values"] + dropped
        return records, dropped

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

    def take(self, at: float) -> tuple[list[StepColumns], list[ValueColumns], list[Event]]:
        """What is new: columns, and events for facts and for data that was lost."""
        steps: Steps = []
        values: Values = []
        events: list[Event] = []
        for rings in self._rings:
            new_steps, lost_steps = rings.steps()
            new_values, lost_values = rings.values()
            losses = [("steps", lost_steps, "overwritten"), ("values", lost_values, "overwritten")]
            for fact in rings.facts():
                events.append(Event(kind="rank_facts", at=at, rank=rings.rank, data=fact))
                losses += rings.losses_in(fact)
            steps += [(rings.rank, step) for step in new_steps]
            values += [(rings.rank, rings.name_of(value.key), value) for value in new_values]
            events += [dropped_event(at, rings.rank, what, n, reason) for what, n, reason in losses if n]
        return ([step_columns(steps)] if steps else []), value_columns(values), events

    def close(self) -> None:
        """Let go of the files."""
        for rings in self._rings:
            rings.close()


def dropped_event(at: float, rank: int | None, what: str, count: int, reason: str) -> Event:
    """Data that will never come."""
    return Event(kind="dropped", at=at, rank=rank, data={"what": what, "count": count, "reason": reason})


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
