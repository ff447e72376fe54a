"""What this node has to say about one attempt, on disk until the server's database has it.

Each record holds an encoded batch and a cursor: how far everything (logs, rings, facts) had been read once that batch
was made. Batch and cursor reach the disk together, so a restarted agent goes on without a gap and without a double.
"""

import threading
from pathlib import Path
from typing import Any

import msgspec

from trainer_agent.agent.segment import Segment

SEGMENT_BYTES = 4 * 1024 * 1024
LIMIT_BYTES = 1024 * 1024 * 1024


class Spool:
    """Numbered records 1, 2, 3, … in segment files. Safe for one writer and one sender thread."""

    def __init__(self, folder: Path, limit: int = LIMIT_BYTES, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.folder = folder
        self._limit = limit
        self._segment_bytes = segment_bytes
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        self._segments = [Segment(path) for path in sorted(folder.glob("*.seg"))]
        self._drop_unusable()
        self.acked = self._segments[0].entries[0].seq - 1 if self._segments else 0

    @property
    def last_seq(self) -> int:
        """Sequence number of the newest record, 0 before the first."""
        return self._segments[-1].last_seq if self._segments else 0

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(segment.size for segment in self._segments)

    @property
    def unacked(self) -> int:
        """Records that the server has not acknowledged."""
        return self.last_seq - self.acked

    @property
    def is_full(self) -> bool:
        """Over its size: nothing but lifecycle events should be appended."""
        return not self.has_room(1.0)

    def has_room(self, share: float) -> bool:
        """Whether less than this share of its size is taken."""
        return self.size < share * self._limit

    def cursor(self) -> dict[str, Any]:
        """The newest record's cursor; empty before the first."""
        if not self._segments:
            return {}
        last = self._segments[-1]
        found: dict[str, Any] = msgspec.msgpack.decode(last.cursor(last.entries[-1]))
        return found

    def append(self, seq: int, body: bytes, cursor: dict[str, Any], *, urgent: bool = False) -> None:
        """Add the record that follows the last one; an urgent one may use the room kept back for a full disk.

        OSError: the disk did not take it, and the spool is as it was before.
        """
        with self._lock:
            if seq != self.last_seq + 1:
                raise ValueError(f"record {seq} does not follow {self.last_seq}")
            newest = self._segments[-1] if self._segments else None
            packed = msgspec.msgpack.encode(cursor)
            if newest is not None and newest.size < self._segment_bytes:
                newest.append(seq, body, packed, urgent=urgent)
                return
            try:
                self._begin(seq, body, packed)
            except OSError:
                if newest is None or not urgent:
                    raise
                newest.append(seq, body, packed, urgent=True)

    def read(self, after: int, limit: int, limit_bytes: int = LIMIT_BYTES) -> list[tuple[int, bytes]]:
        """At most `limit` records (and about `limit_bytes`) after number `after`; on disk for sure when returned."""
        with self._lock:
            found: list[tuple[int, bytes]] = []
            for segment in self._segments:
                if segment.last_seq <= after or len(found) >= limit:
                    continue
                segment.sync()
                skip = max(0, after + 1 - segment.entries[0].seq)
                chosen = segment.entries[skip : skip + limit - len(found)]
                for entry in chosen:
                    if limit_bytes <= 0:
                        return found
                    found.append((entry.seq, segment.body(entry)))
                    limit_bytes -= entry.body
            return found

    def acknowledge(self, seq: int) -> None:
        """The database has everything up to `seq`: drop whole segments, but keep the newest for its cursor."""
        with self._lock:
            self.acked = max(self.acked, min(seq, self.last_seq))
            while len(self._segments) > 1 and self._segments[0].last_seq <= self.acked:
                self._drop(self._segments.pop(0))

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            for segment in self._segments:
                segment.close()
            self._segments = []

    def _begin(self, seq: int, body: bytes, cursor: bytes) -> None:
        """A new segment with its first record, or no new segment."""
        fresh = Segment(self.folder / f"{seq:016d}.seg")
        try:
            fresh.append(seq, body, cursor)
        except OSError:
            self._drop(fresh)
            raise
        if self._segments:
            self._segments[-1].trim()
        self._segments.append(fresh)

    def _drop_unusable(self) -> None:
        """A segment whose first record was torn holds nothing; one that does not follow (a bad disk) is of no use:
        the cursor of the record before it has all of it read again.
        """
        good: list[Segment] = []
        for segment in self._segments:
            if segment.entries and (not good or segment.entries[0].seq == good[-1].last_seq + 1):
                good.append(segment)
            else:
                self._drop(segment)
        self._segments = good

    def _drop(self, segment: Segment) -> None:
        segment.close()
        segment.path.unlink(missing_ok=True)
