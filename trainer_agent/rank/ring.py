"""The writing half of a ring (layout: `wire/record.py`). One writer; a put is four stores into shared memory."""

import contextlib
import mmap
import os
import struct
from typing import Literal

from trainer_agent.wire import record

SEQ = struct.Struct("<q")
Kind = Literal["B", "H", "I", "q"]


class RingWriter:
    """Owns one ring file. A ring that an earlier process of the same rank left is taken over: the count goes on.

    Raises OSError where the file cannot be made in full; nothing raises after that, for the pages are reserved.
    """

    def __init__(self, path: str, slot: struct.Struct, capacity: int, rank: int) -> None:
        self._slot = slot
        self._capacity = capacity
        self._map, self.seq = _make(path, slot.size, capacity, rank)
        self._numbers = memoryview(self._map).cast("q")

    def put(self, now: float, step: int, *fields: float) -> None:
        """Append one record. `fields` are the slot's without its number; `now` and `step` also go to the header."""
        slot, numbers, self.seq = self._slot, self._numbers, self.seq + 1
        start = record.HEADER_SIZE + (self.seq - 1) % self._capacity * slot.size
        number = (start + slot.size) // SEQ.size - 1
        numbers[number] = 0  # a reader that copies this slot now sees that it is being overwritten
        slot.pack_into(self._map, start, *fields, 0)
        numbers[number] = self.seq
        record.HEAD_TAIL.pack_into(self._map, record.HEAD_SEQ_OFFSET, self.seq, now, step)

    def field(self, offset: int, kind: Kind) -> "memoryview[int]":
        """One field of the header, as a view of one number. Storing into it costs a tenth of what packing does."""
        size = struct.calcsize(kind)
        return memoryview(self._map)[offset : offset + size].cast(kind)


def _make(path: str, slot_size: int, capacity: int, rank: int) -> tuple[mmap.mmap, int]:
    """A ring file at `path`, put there whole in one rename, and the number that its last record has."""
    size = record.HEADER_SIZE + slot_size * capacity
    old = _old_ring(path, size, slot_size, capacity)
    fresh = f"{path}.{os.getpid()}"
    try:
        descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, size)  # a full /dev/shm must fail here, not as SIGBUS in training
            ring = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        ring[: record.HEADER_SIZE] = record.pack_header(slot_size, capacity, rank, os.getpid())
        if old:
            ring[record.HEADER_SIZE :] = old[record.HEADER_SIZE :]
            tail = slice(record.HEAD_SEQ_OFFSET, record.HEAD_SEQ_OFFSET + record.HEAD_TAIL.size)
            ring[tail] = old[tail]
        os.rename(fresh, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise
    return ring, SEQ.unpack_from(ring, record.HEAD_SEQ_OFFSET)[0]


def _old_ring(path: str, size: int, slot_size: int, capacity: int) -> bytes:
    """What an earlier process left at `path`, or nothing if it is no ring of our shape."""
    try:
        with open(path, "rb") as file:
            old = file.read(size)
    except OSError:
        return b""
    if len(old) < size or record.HEADER.unpack_from(old)[:3] != (record.MAGIC, slot_size, capacity):
        return b""
    return old
