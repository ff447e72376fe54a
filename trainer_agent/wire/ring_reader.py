"""The agent's side of `record.py`: reads what a rank wrote while the rank goes on writing. Stdlib only.

A file that does not exist yet, or whose writer died half way, reads as empty. A rank that starts again replaces its
ring by one that goes on counting, so a sequence number is never given twice within an attempt.
"""

import json
import mmap
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from trainer_agent.wire import record
from trainer_agent.wire.record import StepRecord, ValueRecord

SEQ = struct.Struct("<q")
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class RingHeader:
    """Where the writer stands: last sequence number, when it was written (epoch s), its step (-1: none yet).

    Of a steps ring also the progress word: `phase` (empty: the writer does not tell), `since` (epoch s), `ahead` (steps
    that have ended but are not in the ring yet), `collectives` entered so far.
    """

    rank: int
    pid: int
    seq: int
    time: float
    step: int
    phase: str = ""
    ahead: int = 0
    collectives: int = 0
    since: float = 0.0


def step_reader(ring_dir: str, rank: int) -> "RingReader[StepRecord]":
    """Reader of a rank's step records."""
    return RingReader(record.ring_path(ring_dir, rank, "steps"), record.STEP.size, record.unpack_step)


def value_reader(ring_dir: str, rank: int) -> "RingReader[ValueRecord]":
    """Reader of a rank's user values. Read the facts after the values: a name comes before its first value."""
    return RingReader(record.ring_path(ring_dir, rank, "values"), record.VALUE.size, record.unpack_value)


def facts_reader(ring_dir: str, rank: int) -> "FactsReader":
    """Reader of a rank's facts."""
    return FactsReader(record.ring_path(ring_dir, rank, "facts"))


class RingReader(Generic[Record]):
    """Reads one ring. Holds no position: the caller keeps the last sequence number that it has taken care of."""

    def __init__(self, path: str, slot_size: int, unpack: Callable[[bytes], Record]) -> None:
        self.path = path
        self._slot_size = slot_size
        self._unpack = unpack
        self._map: mmap.mmap | None = None
        self._capacity = 0
        self._inode = 0

    def header(self) -> RingHeader | None:
        """Where the writer stands, or None while there is no ring."""
        if not self._follow() or self._map is None:
            return None
        fields = record.HEADER.unpack(self._map[: record.HEADER_SIZE])
        _, _, _, rank, pid, seq, written, step, now, ahead, collectives, since = fields
        phase = record.NOW[now] if now < len(record.NOW) else ""
        return RingHeader(rank, pid, seq, written, step, phase, ahead, collectives, _epoch(since))

    def read_new(self, after_seq: int, limit: int = 10_000) -> tuple[list[Record], int]:
        """The records after `after_seq`, oldest first, at most `limit`, and how many were overwritten before we came.

        A ring that ends before `after_seq` was made anew and is read from its beginning.
        """
        header = self.header()
        if header is None:
            return [], 0
        after_seq = min(after_seq, header.seq) if header.seq >= after_seq else 0
        first = max(after_seq + 1, header.seq - self._capacity + 1)
        dropped = first - after_seq - 1
        records: list[Record] = []
        for seq in range(first, min(header.seq, first + limit - 1) + 1):
            found = self._take(seq)
            if found is None:  # overwritten while we read
                dropped += 1
            else:
                records.append(found)
        return records, dropped

    def close(self) -> None:
        """Let go of the file. Reading again opens it again."""
        if self._map is not None:
            self._map.close()
            self._map = None

    def _take(self, seq: int) -> Record | None:
        assert self._map is not None
        start = record.HEADER_SIZE + (seq - 1) % self._capacity * self._slot_size
        slot = self._map[start : start + self._slot_size]
        again = self._map[start + self._slot_size - SEQ.size : start + self._slot_size]
        # The writer sets the number to 0 before it overwrites a slot: same number before and after, nothing torn.
        if slot[-SEQ.size :] != again or SEQ.unpack(again)[0] != seq:
            return None
        return self._unpack(slot)

    def _follow(self) -> bool:
        """Have the file that is at the path now open. False while there is none that can be read."""
        try:
            found = os.stat(self.path)
        except OSError:
            return self._map is not None  # removed: what was mapped can still be read to its end
        if self._map is not None and found.st_ino == self._inode:
            return True
        return self._open() or self._map is not None

    def _open(self) -> bool:
        try:
            with open(self.path, "rb") as file:
                size, inode = os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_ino
                fresh = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else None
        except (OSError, ValueError):
            return False
        capacity = self._capacity_of(fresh, size) if fresh is not None else 0
        if fresh is None or not capacity:
            return False
        self.close()
        self._map, self._capacity, self._inode = fresh, capacity, inode
        return True

    def _capacity_of(self, fresh: mmap.mmap, size: int) -> int:
        """Slots of a ring that we can read, else 0."""
        if size < record.HEADER_SIZE:
            return 0
        magic, slot_size, capacity = record.HEADER.unpack(fresh[: record.HEADER_SIZE])[:3]
        fits = size >= record.HEADER_SIZE + slot_size * capacity
        return int(capacity) if magic == record.MAGIC and slot_size == self._slot_size and fits else 0


class FactsReader:
    """Reads a rank's facts line by line, and remembers the names of its keys."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.keys: dict[int, str] = {}
        self._offset = 0

    def read_new(self) -> list[dict[str, Any]]:
        """The facts since the last call, without the key lines (see `keys`). A line that is no JSON is skipped."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._offset)
                data = file.read()
        except OSError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        facts = []
        for line in whole.splitlines():
            found = _parse(line)
            if isinstance(found.get("key"), int) and isinstance(found.get("name"), str):
                self.keys[found["key"]] = found["name"]
            elif found:
                facts.append(found)
        return facts


def _epoch(mark: int) -> float:
    """A moment of this machine's monotonic clock (ns) in epoch seconds. 0.0 where it is none that has been."""
    ago = time.perf_counter_ns() - mark
    return time.time() - ago / 1e9 if mark > 0 and ago >= 0 else 0.0


def _parse(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
