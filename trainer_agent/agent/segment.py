"""One file of a spool: records, each checked by a checksum. A torn last record (kill -9, power) is cut off."""

import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

HEAD = struct.Struct("<4s I I I Q")  # magic, bytes of body, bytes of cursor, crc32 of the rest, sequence number
MAGIC = b"PLSP"


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
        self._recover()

    @property
    def last_seq(self) -> int:
        """Sequence number of the last record, 0 for an empty segment."""
        return self.entries[-1].seq if self.entries else 0

    def append(self, seq: int, body: bytes, cursor: bytes) -> None:
        """Write one record behind the others."""
        crc = zlib.crc32(cursor, zlib.crc32(body, zlib.crc32(seq.to_bytes(8, "little"))))
        data = HEAD.pack(MAGIC, len(body), len(cursor), crc, seq) + body + cursor
        os.pwrite(self._file, data, self.size)
        self.entries.append(Entry(seq, self.size, len(body), len(cursor)))
        self.size += len(data)

    def body(self, entry: Entry) -> bytes:
        """The message of a record."""
        return os.pread(self._file, entry.body, entry.offset + HEAD.size)

    def cursor(self, entry: Entry) -> bytes:
        """The cursor of a record."""
        return os.pread(self._file, entry.cursor, entry.offset + HEAD.size + entry.body)

    def sync(self) -> None:
        """Have the disk hold it."""
        os.fdatasync(self._file)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _recover(self) -> None:
        end = os.fstat(self._file).st_size
        while (entry := self._entry_at(self.size, end)) is not None:
            self.entries.append(entry)
            self.size += HEAD.size + entry.body + entry.cursor
        if self.size < end:
            os.ftruncate(self._file, self.size)

    def _entry_at(self, offset: int, end: int) -> Entry | None:
        head = os.pread(self._file, HEAD.size, offset)
        if len(head) < HEAD.size:
            return None
        magic, body, cursor, crc, seq = HEAD.unpack(head)
        if magic != MAGIC or offset + HEAD.size + body + cursor > end:
            return None
        rest = os.pread(self._file, body + cursor, offset + HEAD.size)
        if zlib.crc32(rest, zlib.crc32(seq.to_bytes(8, "little"))) != crc:
            return None
        return Entry(seq, offset, body, cursor)
