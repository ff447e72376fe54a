"""What one rank was doing, as its node told (docs/wire.md, "Autopsy"). Pure; bad input reads as "not known"."""

import json
from typing import Any

import msgspec

from webapp.incidents.flight_recorder.reading import BadDump, Dump, read

WAITS = "exposed_comm"
BUSY = 0.5  # of one processor
_MOVES = 0.5  # of the time without a step: whoever has begun a phase since then is alive


class Frame(msgspec.Struct, frozen=True):
    """One line of a stack."""

    name: str = ""
    filename: str = ""
    line: int | None = None


class Stack(msgspec.Struct, frozen=True):
    """One thread, innermost line first."""

    thread: str = ""
    frames: tuple[Frame, ...] = ()
    holds_gil: bool = False
    active: bool = False


class StuckSocket(msgspec.Struct, frozen=True):
    """`waiting` bytes were sent `tries` times and never acknowledged."""

    peer: str = ""
    port: int = 0
    waiting: int = 0
    tries: int = 0


class Facts(msgspec.Struct, frozen=True):
    """One rank. `steps` None: it has no ring. `answered` None: nobody listens in it. Processor shares: 1.0 is one."""

    alive: bool = False
    pid: int | None = None
    state: str = ""  # of /proc: R running, S asleep, D in the kernel, T stopped
    wchan: str = ""
    threads: int = 0
    cpu: float = 0.0
    main_cpu: float = 0.0
    steps: int | None = None
    collectives: int = 0
    phase: str = ""
    in_phase_s: float | None = None
    no_step_s: float | None = None
    answered: bool | None = None
    stacks: tuple[Stack, ...] = ()
    stacks_from: str = ""
    stuck_sockets: tuple[StuckSocket, ...] = ()
    log: tuple[str, ...] = ()
    gpu: dict[str, float | None] | None = None
    flight: dict[str, Any] | None = None

    @property
    def waits(self) -> bool:
        """It is inside a collective."""
        return self.phase == WAITS

    @property
    def is_silent(self) -> bool:
        """It should answer and does not."""
        return self.answered is False

    @property
    def is_busy(self) -> bool:
        """Its main thread computes."""
        return self.main_cpu >= BUSY

    @property
    def device_is_busy(self) -> bool:
        """Its GPU computes."""
        return self.gpu is not None and (self.gpu.get("util") or 0) >= 100 * BUSY

    @property
    def moves(self) -> bool:
        """It has begun a phase lately, so it is not stuck, however long it makes no step."""
        if self.in_phase_s is None or self.no_step_s is None:
            return False
        return self.in_phase_s < _MOVES * self.no_step_s

    def stepped(self, within: float) -> bool:
        """It has made a step within so many seconds."""
        return self.no_step_s is not None and self.no_step_s < within

    @property
    def place(self) -> tuple[int, int]:
        """Steps that it has made, collectives that it has come to."""
        return self.steps or 0, self.collectives

    @property
    def main(self) -> tuple[Frame, ...]:
        """The main thread's stack."""
        return self.stacks[0].frames if self.stacks else ()


def facts_of(data: object) -> Facts:
    """The facts in an event's data; what cannot be read is an empty one."""
    try:
        return msgspec.convert(data, Facts, strict=False)
    except msgspec.ValidationError:
        return Facts()


def dump_of(rank: int, facts: Facts) -> Dump | None:
    """The rank's flight recorder, if it gave one that can be read."""
    if not facts.flight:
        return None
    try:
        return read(f"rank_{rank}.json", json.dumps(facts.flight).encode())
    except BadDump:
        return None
