"""A stretch of a rank's timeline: what its parts took, and what else is known of it. Pure."""

from collections.abc import Collection
from typing import Any

from trainer_agent.rank.clock import Clock

PARTS = ("data", "forward", "backward", "exposed_comm", "optimizer", "other")
DATA, FORWARD, BACKWARD, EXPOSED_COMM, OPTIMIZER, OTHER = range(6)
MAX_MARKS = 512  # of one segment before they are added up early


class Segment:
    """By a clock whose marks are nanoseconds. `ns` is what each part took until the mark `until`."""

    __slots__ = (
        "batches",
        "buckets",
        "clock",
        "collectives",
        "comm_total",
        "end",
        "flags",
        "missing",
        "nbytes",
        "ns",
        "until",
    )

    def __init__(self, clock: Clock, start: Any) -> None:
        self.clock = clock
        self.until = start
        self.ns = [0, 0, 0, 0, 0, 0]
        self.end = 0.0  # epoch seconds
        self.comm_total: float | None = None  # microseconds
        self.nbytes = self.buckets = self.collectives = self.batches = self.flags = 0
        self.missing: Collection[int] = ()  # phases that cannot be seen

    @property
    def is_empty(self) -> bool:
        """Whether nothing has gone on in it."""
        return not any(self.ns)

    def add(self, phase: int, mark: Any) -> None:
        """`phase` went on until `mark`."""
        self.ns[phase] += mark - self.until
        self.until = mark

    def resolve(self) -> bool:
        """Add up what can be read. True when that is all."""
        return True

    def join(self, later: "Segment") -> "Segment":
        """This segment and the one that follows it as one. None of the two may be used afterwards."""
        later.ns = [a + b for a, b in zip(self.ns, later.ns, strict=True)]
        if self.comm_total is not None:
            later.comm_total = self.comm_total + (later.comm_total or 0.0)
        later.nbytes += self.nbytes
        later.buckets += self.buckets
        later.collectives += self.collectives
        later.batches += self.batches
        later.flags |= self.flags
        return later


class DeviceSegment(Segment):
    """By a clock whose marks are read later. `phases[i]` is what went on between `marks[i]` and `marks[i + 1]`."""

    __slots__ = ("marks", "phases")

    def __init__(self, clock: Clock, start: Any) -> None:
        super().__init__(clock, start)
        self.marks = [start]
        self.phases: list[int] = []

    @property
    def is_empty(self) -> bool:
        return not self.phases and super().is_empty

    def add(self, phase: int, mark: Any) -> None:
        self.until = mark
        self.phases.append(phase)
        self.marks.append(mark)
        if len(self.marks) > MAX_MARKS and not self.resolve():
            self._thin()

    def resolve(self) -> bool:
        if self.phases and self.clock.ready(self.marks[-1]):
            for i, phase in enumerate(self.phases):
                self.ns[phase] += max(0, round(1_000 * self.clock.us(self.marks[i], self.marks[i + 1])))
            self.clock.release(self.marks[:-1])
            self.marks, self.phases = self.marks[-1:], []
        return not self.phases

    def join(self, later: Segment) -> Segment:
        if not self.resolve() and isinstance(later, DeviceSegment):  # a device's clock is never given up
            later.marks = self.marks + later.marks[1:]
            later.phases = self.phases + later.phases
        return super().join(later)

    def _thin(self) -> None:
        """Marks that a device has not reached yet: give up the detail between them rather than keep ever more."""
        self.clock.release(self.marks[1:-1])
        self.marks, self.phases = [self.marks[0], self.marks[-1]], [OTHER]
