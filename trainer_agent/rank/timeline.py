"""Cuts a rank's time into phases and steps. Pure: marks come from a clock, no torch, no file.

Phases nest, and each moment belongs to the innermost one only, so the parts of a step always add up to the step.
"""

from collections.abc import Callable, Collection
from typing import Any

from trainer_agent.rank.clock import Clock

PARTS = ("data", "forward", "backward", "exposed_comm", "optimizer", "other")
DATA, FORWARD, BACKWARD, EXPOSED_COMM, OPTIMIZER, OTHER = range(6)
MAX_MARKS = 512  # of one segment before they are added up early


class Segment:
    """A stretch of the timeline: `phases[i]` is what went on between `marks[i]` and `marks[i + 1]`."""

    __slots__ = (
        "batches",
        "began",
        "buckets",
        "clock",
        "collectives",
        "comm_total",
        "end",
        "flags",
        "marks",
        "missing",
        "nbytes",
        "phases",
        "us",
    )

    def __init__(self, clock: Clock, start: Any) -> None:
        self.clock = clock
        self.began = False  # whether anything went on in it
        self.marks = [start]
        self.phases: list[int] = []
        self.us = [0.0] * len(PARTS)
        self.end = 0.0  # epoch seconds
        self.comm_total: float | None = None  # microseconds
        self.nbytes = 0
        self.buckets = 0
        self.collectives = 0
        self.batches = 0
        self.flags = 0
        self.missing: Collection[int] = ()  # phases that cannot be seen

    def add(self, phase: int, mark: Any) -> None:
        """`phase` went on until `mark`."""
        self.began = True
        if self.clock.at_once:
            self.us[phase] += (mark - self.marks[0]) / 1_000
            self.marks[0] = mark
            return
        self.phases.append(phase)
        self.marks.append(mark)
        if len(self.marks) > MAX_MARKS:
            self.resolve()
            self._thin()

    def resolve(self) -> bool:
        """Add up what can be read. True when that is all."""
        if self.phases and self.clock.ready(self.marks[-1]):
            for i, phase in enumerate(self.phases):
                self.us[phase] += max(0.0, self.clock.us(self.marks[i], self.marks[i + 1]))
            self.clock.release(self.marks[:-1])
            self.marks, self.phases = self.marks[-1:], []
        return not self.phases

    def join(self, later: "Segment") -> "Segment":
        """This segment and the one that follows it as one. None of the two may be used afterwards."""
        if self.resolve():
            later.us = [a + b for a, b in zip(self.us, later.us, strict=True)]
        else:
            later.us = self.us
            later.marks = self.marks + later.marks[1:]
            later.phases = self.phases + later.phases
        if self.comm_total is not None:
            later.comm_total = self.comm_total + (later.comm_total or 0.0)
        later.nbytes += self.nbytes
        later.buckets += self.buckets
        later.collectives += self.collectives
        later.batches += self.batches
        later.flags |= self.flags
        return later

    def _thin(self) -> None:
        """Marks that a device has not reached yet: give up the detail between them rather than keep ever more."""
        if self.phases:
            self.clock.release(self.marks[1:-1])
            self.marks, self.phases = [self.marks[0], self.marks[-1]], [OTHER]


class Timeline:
    """The phase stack of one thread. It begins with the first phase that is entered.

    `on_phase` is called with the innermost phase at every change of it.
    """

    def __init__(self, clock: Clock, on_phase: Callable[[int], object] = int) -> None:
        self.clock = clock
        self._on_phase = on_phase
        self.segment: Segment | None = None
        self._stack = [OTHER]
        self._next_clock = clock

    def enter(self, phase: int) -> None:
        """`phase` begins inside what goes on now."""
        segment, mark = self.segment, self.clock.now()
        if segment is None:
            self.segment = Segment(self.clock, mark)
        elif segment.clock.at_once:  # as `add` does, without a frame of its own
            segment.began = True
            segment.us[self._stack[-1]] += (mark - segment.marks[0]) / 1_000
            segment.marks[0] = mark
        else:
            segment.add(self._stack[-1], mark)
        self._stack.append(phase)
        self._on_phase(phase)

    def leave(self) -> None:
        """The innermost phase ends."""
        segment = self.segment
        if segment is None or len(self._stack) < 2:
            return
        mark = self.clock.now()
        if segment.clock.at_once:
            segment.began = True
            segment.us[self._stack.pop()] += (mark - segment.marks[0]) / 1_000
            segment.marks[0] = mark
        else:
            segment.add(self._stack.pop(), mark)
        self._on_phase(self._stack[-1])

    def become(self, phase: int) -> None:
        """The innermost phase ends and `phase` takes its place."""
        if self.segment is not None and len(self._stack) > 1:
            self.segment.add(self._stack[-1], self.clock.now())
            self._stack[-1] = phase
            self._on_phase(phase)

    def inside(self, phase: int) -> bool:
        """Whether `phase` is the innermost one now."""
        return self._stack[-1] == phase

    @property
    def at_rest(self) -> bool:
        """Whether no phase has begun since the last cut."""
        return self.segment is not None and not self.segment.began and len(self._stack) == 1

    def cut(self) -> Segment | None:
        """End the segment here and begin the next. Phases that are open go on in it."""
        done = self.segment
        if done is None:
            return None
        mark = self.clock.now()
        done.add(self._stack[-1], mark)
        if self._next_clock is not self.clock:
            self.clock = self._next_clock
            mark = self.clock.now()
        self.segment = Segment(self.clock, mark)
        return done

    def use(self, clock: Clock) -> None:
        """Take marks from `clock` from the next segment on."""
        self._next_clock = clock
        if self.segment is None:
            self.clock = clock

    def unwind(self) -> None:
        """Forget the open phases: someone who should have closed them cannot."""
        self._stack = [OTHER]
