"""Reads logs byte-exactly from where the last batch ended; what comes too fast is left out by whole lines, and counted.

The file on the node keeps every byte. What is sent of it: up to BURST bytes at any speed, and RATE bytes a second.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trainer_agent.wire.messages import LogBytes

CHUNK = 256 * 1024
PER_BATCH = 512 * 1024
BURST = 32 * 1024 * 1024  # bytes of one log that are sent at once
RATE = 2 * 1024 * 1024  # bytes a second, beyond that
PIECE = 2 * 1024 * 1024  # bytes that are sent in one stretch between two holes: few holes rather than many
COUNTED_AT_ONCE = 32 * 1024 * 1024  # bytes of a hole that one batch waits for
LINE = 64 * 1024  # bytes in which a line's end is looked for; a longer line may be cut
LAUNCHER = -1


class Budget:
    """Bytes of one log that may be sent now."""

    def __init__(self, clock: float) -> None:
        self._left = float(BURST)
        self._clock = clock
        self._is_spent = False  # until there is enough for a whole PIECE again

    def allows(self, behind: int, clock: float) -> tuple[int, bool]:
        """How many of `behind` bytes may go now, and whether the others are too many to wait for."""
        self._left = min(BURST, self._left + max(0.0, clock - self._clock) * RATE)
        self._clock = clock
        self._is_spent |= self._left < min(behind, CHUNK)
        if self._is_spent and self._left < min(behind, PIECE):
            return 0, False
        return min(behind, int(self._left)), self._is_spent and behind > self._left

    def spend(self, count: int) -> None:
        """So many went."""
        self._left -= count
        self._is_spent = False


@dataclass(slots=True)
class Hole:
    """What is left out between the byte sent before and the next one, as far as it is counted."""

    end: int
    lines: int = 0


class LogTail:
    """The logs of one attempt: rank -> next byte to send."""

    def __init__(
        self,
        folder: Path,
        ranks: range,
        offsets: dict[int, int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.paths = {LAUNCHER: folder / "launcher.log", **{r: folder / "ranks" / f"rank{r}.log" for r in ranks}}
        self.offsets = dict.fromkeys(self.paths, 0) | offsets
        self._clock = clock
        self._budgets = {rank: Budget(clock()) for rank in self.paths}
        self._holes: dict[int, Hole] = {}
        self._first = 0

    @property
    def is_at_the_end(self) -> bool:
        """Whether all that may be sent of the logs was taken."""
        return all(self._size(rank) <= offset for rank, offset in self.offsets.items() if rank in self.paths)

    def take(self, at: float) -> list[LogBytes]:
        """The next chunks of all logs, at most PER_BATCH bytes together; ranks take turns to be first."""
        found: list[LogBytes] = []
        left = PER_BATCH
        order = list(self.paths)
        self._first = (self._first + 1) % len(order)
        for rank in order[self._first :] + order[: self._first]:
            piece = self._next(rank, min(CHUNK, left), at)
            if piece is not None:
                found.append(piece)
                left -= len(piece.data)
        return found

    def _next(self, rank: int, most: int, at: float) -> LogBytes | None:
        offset, size = self.offsets[rank], self._size(rank)
        if most <= 0 or size <= offset:
            return None
        allowed, too_much = self._budgets[rank].allows(size - offset, self._clock())
        if not allowed:
            return None
        if not too_much and rank not in self._holes:
            return self._send(rank, self._read(rank, offset, min(most, allowed)), at)
        if rank not in self._holes:
            rest = self._rest_of_line(rank, offset)
            if rest:
                self.offsets[rank] = offset + len(rest)
                return LogBytes(rank=rank, offset=offset, data=rest, at=at)
        hole = self._holes.setdefault(rank, Hole(offset))
        if not self._count(rank, hole, size - PIECE):
            return None
        return self._send(rank, self._read(rank, hole.end, min(most, PIECE)), at)

    def _send(self, rank: int, data: bytes, at: float) -> LogBytes | None:
        if not data:
            return None
        hole = self._holes.pop(rank, None) or Hole(self.offsets[rank])
        self._budgets[rank].spend(len(data))
        self.offsets[rank] = hole.end + len(data)
        return LogBytes(rank=rank, offset=hole.end, data=data, at=at, skipped_lines=hole.lines)

    def _rest_of_line(self, rank: int, offset: int) -> bytes:
        """What belongs to a line that was sent in part; holes begin with a line."""
        before = self._read(rank, max(0, offset - 1), LINE)
        if not offset or before[:1] == b"\n":
            return b""
        return before[1 : before.find(b"\n") + 1]

    def _count(self, rank: int, hole: Hole, end: int) -> bool:
        """Count on to `end`, and to the end of the line there. False when it takes another round."""
        stop = hole.end + COUNTED_AT_ONCE
        while hole.end < end:
            if hole.end >= stop:
                return False
            data = self._read(rank, hole.end, min(CHUNK, end - hole.end))
            if not data:
                break
            hole.lines += data.count(b"\n")
            hole.end += len(data)
        length = self._read(rank, hole.end, LINE).find(b"\n") + 1
        hole.lines += bool(length)
        hole.end += length
        return True

    def _size(self, rank: int) -> int:
        try:
            return self.paths[rank].stat().st_size
        except OSError:
            return 0

    def _read(self, rank: int, offset: int, count: int) -> bytes:
        try:
            with open(self.paths[rank], "rb") as file:
                return os.pread(file.fileno(), count, offset)
        except OSError:
            return b""
