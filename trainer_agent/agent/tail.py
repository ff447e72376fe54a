"""Reads logs byte-exactly from where the last batch ended."""

import os
from pathlib import Path

from trainer_agent.wire.messages import LogBytes

CHUNK = 256 * 1024
PER_BATCH = 512 * 1024
BACKLOG = 64 * 1024 * 1024  # a log that is further ahead of us than this is cut: the page must stay alive
KEPT = 1024 * 1024  # how much of a cut log's end is still sent
LAUNCHER = -1


class LogTail:
    """The logs of one attempt: rank -> next byte to send. What is never sent is counted in `skipped`."""

    def __init__(self, folder: Path, ranks: range, offsets: dict[int, int]) -> None:
        self.paths = {LAUNCHER: folder / "launcher.log", **{r: folder / "ranks" / f"rank{r}.log" for r in ranks}}
        self.offsets = dict.fromkeys(self.paths, 0) | offsets
        self.skipped: dict[int, int] = {}
        self._first = 0

    def take(self, at: float) -> list[LogBytes]:
        """The next chunks of all logs, at most PER_BATCH bytes together; ranks take turns to be first."""
        found: list[LogBytes] = []
        left = PER_BATCH
        order = list(self.paths)
        self._first = (self._first + 1) % len(order)
        for rank in order[self._first :] + order[: self._first]:
            offset = self._where(rank)
            data = self._read(rank, offset, min(CHUNK, left))
            if data:
                found.append(LogBytes(rank=rank, offset=offset, data=data, at=at))
                self.offsets[rank] = offset + len(data)
                left -= len(data)
        return found

    def take_skipped(self) -> dict[int, int]:
        """Bytes that will never be sent, by rank, since the last call."""
        skipped, self.skipped = self.skipped, {}
        return skipped

    def _where(self, rank: int) -> int:
        offset = self.offsets[rank]
        behind = self._size(rank) - offset
        if behind > BACKLOG:
            self.skipped[rank] = self.skipped.get(rank, 0) + behind - KEPT
            return offset + behind - KEPT
        return offset

    def _size(self, rank: int) -> int:
        try:
            return self.paths[rank].stat().st_size
        except OSError:
            return 0

    def _read(self, rank: int, offset: int, count: int) -> bytes:
        if count <= 0 or self._size(rank) <= offset:
            return b""
        with open(self.paths[rank], "rb") as file:
            return os.pread(file.fileno(), count, offset)
