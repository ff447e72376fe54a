"""The ring of step records: each field is stored by itself, which costs a third of packing them, once in every step."""

from collections.abc import Iterable

from trainer_agent.rank.ring import SEQ, RingWriter
from trainer_agent.wire import record

# `record.STEP` in 8-byte words, and from the phases on in 4-byte ones.
_WORDS = record.STEP.size // 8
_STEP, _END, _US, _NBYTES, _BUCKETS, _FLAGS, _SEQ = 0, 1, 2 * 2, 6, 2 * 7, 2 * 7 + 1, _WORDS - 1
_HEAD_SEQ = record.HEAD_SEQ_OFFSET // SEQ.size


class StepRing(RingWriter):
    """Written by the probe, at the end of a step."""

    def __init__(self, path: str, capacity: int, rank: int) -> None:
        super().__init__(path, record.STEP, capacity, rank)
        self._times = memoryview(self._map).cast("d")
        self._counts = memoryview(self._map).cast("I")

    def put_step(self, step: int, end: float, us: Iterable[int], *, nbytes: int, buckets: int, flags: int) -> None:
        """Append one step, which ended at `end` (epoch seconds). `us` are the 8 of `record.PHASES`."""
        numbers, times, counts, seq = self._numbers, self._times, self._counts, self.seq + 1
        word = record.HEADER_SIZE // 8 + (seq - 1) % self._capacity * _WORDS
        numbers[word + _SEQ] = 0  # a reader that copies this slot now sees that it is being overwritten
        numbers[word + _STEP] = step
        times[word + _END] = end
        for place, phase in enumerate(us, 2 * word + _US):
            counts[place] = phase
        numbers[word + _NBYTES] = nbytes
        counts[2 * word + _BUCKETS] = buckets
        counts[2 * word + _FLAGS] = flags
        numbers[word + _SEQ] = seq
        numbers[_HEAD_SEQ] = self.seq = seq
        times[_HEAD_SEQ + 1] = end
        numbers[_HEAD_SEQ + 2] = step
