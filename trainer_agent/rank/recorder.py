"""Writes finished steps into the ring as soon as their marks can be read."""

from collections import deque

from trainer_agent.rank.ring import RingWriter
from trainer_agent.rank.timeline import EXPOSED_COMM, Segment
from trainer_agent.wire.record import FLAG_WARMUP, MISSING_US

WARMUP_STEPS = 3  # bucket rebuild, allocator, compile
MAX_PENDING = 256  # steps that a device has not finished yet
SAMPLE_BUDGET_US = 800_000  # DDP's own timers cost about 150 µs to take and to read: once in so much step time
MAX_PERIOD = 16


class Recorder:
    """Numbers the steps from 0 and writes them in order. `lost` counts those that never became readable."""

    def __init__(self) -> None:
        self.ring: RingWriter | None = None
        self.made = 0  # steps that have ended
        self.lost = 0
        self.waiting = 0  # steps that have ended and cannot be read yet
        self._pending: deque[tuple[int, Segment]] = deque()
        self.pace_us = 0.0  # of the last steps
        self.period = 1  # DDP's own timers are worth their cost in every 1st, 2nd, 4th, 8th or 16th step

    def add(self, segment: Segment) -> None:
        """A step has ended."""
        if self.made < WARMUP_STEPS:
            segment.flags |= FLAG_WARMUP
        step = self.made
        self.made += 1
        if not self._pending and (not segment.phases or segment.resolve()):
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
            step, segment = self._pending.popleft()
            self._write(step, segment)
        self.waiting = len(self._pending)

    def _write(self, step: int, segment: Segment) -> None:
        us = [*map(round, segment.us)]
        total = sum(us)
        self._learn_pace(step, total)
        for part in segment.missing:
            us[part] = MISSING_US
        comm = segment.comm_total
        if comm is None and segment.collectives and not segment.buckets:
            comm = segment.us[EXPOSED_COMM]
        us.append(MISSING_US if comm is None else round(comm))
        if total >= MISSING_US:
            total, us = MISSING_US - 1, [_fits(part) for part in us]
        if self.ring is not None:
            end = segment.end
            self.ring.put(end, step, step, end, total, *us, segment.nbytes, segment.buckets, segment.flags)

    def _learn_pace(self, step: int, total: int) -> None:
        self.pace_us = total if step < WARMUP_STEPS else 0.9 * self.pace_us + 0.1 * total
        if step % MAX_PERIOD == MAX_PERIOD - 1:
            period = 1
            while period < MAX_PERIOD and period * self.pace_us < SAMPLE_BUDGET_US:
                period *= 2
            self.period = period


def _fits(us: int) -> int:
    """Into 32 bits: a phase of more than 71 minutes is cut there."""
    return us if us == MISSING_US else min(us, MISSING_US - 1)
