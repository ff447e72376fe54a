"""One file of a spool: records, each checked by a checksum. A torn last record (kill -9, power) is cut off.

The file is longer than its records: room is taken ahead, so that a full disk shows before anything is written, and so
that the news of an attempt (rank exited, stopping) still fits when the disk is full.
"""

import contextlib
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from trainer_agent.wire.whole_file import NO_ROOM

HEAD = struct.Struct("<4s I I I Q")  # magic, bytes of body, bytes of cursor, crc32 of the rest, sequence number
MAGIC = b"PLSP"
RESERVE = 128 * 1024  # bytes behind the last record that only an urgent one may use
AHEAD = 256 * 1024  # bytes of room taken at once


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a record lies in its file."""

    seq: int
    offset: int
    body: int
    cursor: int


class Segment:
    """Records of contiguous sequence numbers. One writer; reading what was written is safe from other threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.entries: list[Entry] = []
        self.size = 0
        self._synced = 0
        self._sync_failed = False
        self._room = self._recover()

    @property
    def last_seq(self) -> int:
        """Sequence number of the last record, 0 for an empty segment."""
        return self.entries[-1].seq if self.entries else 0

    def append(self, seq: int, body: bytes, cursor: bytes, *, urgent: bool = False) -> None:
        """Write one record behind the others. OSError: nothing was written, the same may be tried again."""
        crc = zlib.crc32(cursor, zlib.crc32(body, zlib.crc32(seq.to_bytes(8, "little"))))
        data = HEAD.pack(MAGIC, len(body), len(cursor), crc, seq) + body + cursor
        self._make_room(self.size + len(data) + (0 if urgent else RESERVE))
        self._write(data)
        self.entries.append(Entry(seq, self.size, len(body), len(cursor)))
        self.size += len(data)

    def body(self, entry: Entry) -> bytes:
        """The message of a record."""
        return os.pread(self._file, entry.body, entry.offset + HEAD.size)

    def cursor(self, entry: Entry) -> bytes:
        """The cursor of a record."""
        return os.pread(self._file, entry.cursor, entry.offset + HEAD.size + entry.body)

    def sync(self) -> None:
        """Have the disk hold it. After an OSError the next call writes again what may have been lost."""
        end = self.size
        if self._synced == end:
            return
        if self._sync_failed:  # the kernel takes pages that it failed to write for clean
            os.pwrite(self._file, os.pread(self._file, end - self._synced, self._synced), self._synced)
        self._sync_failed = True
        os.fdatasync(self._file)
        self._synced, self._sync_failed = end, False

    def trim(self) -> None:
        """Nothing more will be appended: give the room behind the last record back."""
        os.ftruncate(self._file, self.size)
        self._room = self.size

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _make_room(self, end: int) -> None:
        if end <= self._room:
            return
        for wanted in (end + AHEAD, end):
            try:
                os.posix_fallocate(self._file, self._room, wanted - self._room)
            except OSError as error:
                if error.errno in NO_ROOM and wanted == end:
                    raise
                if error.errno not in NO_ROOM:
                    return  # a file system that cannot do it: then the write itself says whether there is room
            else:
                self._room = wanted
                return

    def _write(self, data: bytes) -> None:
        written = 0
        try:
            while written < len(data):
                written += os.pwrite(self._file, data[written:], self.size + written)
        except OSError:
            with contextlib.suppress(OSError):
                self.trim()
            raise

    def _recover(self) -> int:
        """Find the records. Returns how long the file is: room that an earlier life has taken."""
        end = os.fstat(self._file).st_size
        while (entry := self._entry_at(self.size, end)) is not None:
            self.entries.append(entry)
            self.size += HEAD.size + entry.body + entry.cursor
        try:
            if end - self.size < HEAD.size or os.pwrite(self._file, bytes(HEAD.size), self.size) < HEAD.size:
                end = self.size
        except OSError:
            end = self.size
        os.ftruncate(self._file, end)
        return end

    def _entry_at(self, offset: int, end: int) -> Entry | None:
        head = os.pread(self._file, HEAD.size, offset)
        if len(head) < HEAD.size:
            return None
        magic, body, cursor, crc, seq = HEAD.unpack(head)
        if magic != MAGIC or offset + HEAD.size + body + cursor > end or (self.entries and seq != self.last_seq + 1):
            return None
        rest = os.pread(self._file, body + cursor, offset + HEAD.size)
        if zlib.crc32(rest, zlib.crc32(seq.to_bytes(8, "little"))) != crc:
            return None
        return Entry(seq, offset, body, cursor)
