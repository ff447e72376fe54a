"""Writes finished steps into the ring as soon as their marks can be read."""

from collections import deque

from trainer_agent.rank.pace import Pace
from trainer_agent.rank.segment import EXPOSED_COMM, Segment
from trainer_agent.rank.step_ring import StepRing
from trainer_agent.wire.record import FLAG_WARMUP, MISSING_US

WARMUP_STEPS = 3  # bucket rebuild, allocator, compile
MAX_PENDING = 256  # steps that a device has not finished yet


class Recorder:
    """Numbers the steps from 0 and writes them in order. `lost` counts those that never became readable."""

    def __init__(self) -> None:
        self.ring: StepRing | None = None
        self.made = 0  # steps that have ended
        self.lost = 0
        self.pace = Pace()
        self._pending: deque[tuple[int, Segment]] = deque()

    @property
    def waiting(self) -> int:
        """Steps that have ended and cannot be read yet."""
        return len(self._pending)

    def add(self, segment: Segment) -> None:
        """A step has ended."""
        step = self.made
        if step < WARMUP_STEPS:
            segment.flags |= FLAG_WARMUP
        self.made = step + 1
        if self.made >= self.pace.due:
            self.pace.learn(self.made, segment.end)
        if not self._pending and segment.resolve():
            self._write(step, segment)
            return
        self._pending.append((step, segment))
        self.drain()
        if len(self._pending) > MAX_PENDING:
            self._pending.popleft()
            self.lost += 1

    def drain(self) -> None:
        """Write what can be read."""
        while self._pending and self._pending[0][1].resolve():
            self._write(*self._pending.popleft())

    def _write(self, step: int, segment: Segment) -> None:
        us = [(ns + 500) // 1_000 for ns in segment.ns]
        total, comm = sum(us), segment.comm_total
        if comm is None and segment.collectives and not segment.buckets:
            comm = us[EXPOSED_COMM]
        for part in segment.missing:
            us[part] = MISSING_US
        us = [total, *us, MISSING_US if comm is None else round(comm)]
        if total >= MISSING_US:
            us = [_fits(part) for part in us]
        if self.ring is not None:
            self.ring.put_step(
                step, segment.end, us, nbytes=segment.nbytes, buckets=segment.buckets, flags=segment.flags
            )


def _fits(us: int) -> int:
    """Into 32 bits: a phase of more than 71 minutes is cut there."""
    return us if us == MISSING_US else min(us, MISSING_US - 1)
