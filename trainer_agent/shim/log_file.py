"""A log on a disk that may be full. Stdlib only.

What the disk does not take is left out and counted, and a line in the log says so once there is room again. Nothing
here raises: whoever prints must not notice.
"""

from __future__ import annotations

import os
import threading
import time

from trainer_agent.wire.whole_file import NO_ROOM

TRY_EVERY = 0.2  # seconds between two looks whether there is room again


class LogFile:
    """One append-only file."""

    def __init__(self, path: str) -> None:
        self.lost = 0  # bytes
        self._path = path
        self._file = -1
        self._why = ""
        self._try_at = 0.0
        self._gap_bytes = self._gap_lines = 0  # left out, and not yet said
        self._owed = b""  # what of such a line is not written yet
        self._is_in_line = False
        self._lock = threading.Lock()

    def append(self, data: bytes) -> None:
        """As much of it as the disk takes."""
        with self._lock:
            has_room = not self._is_behind() or self._catch_up()
            self._leave_out(self._write(data) if has_room else data)

    def close(self) -> None:
        """No more will come."""
        with self._lock:
            self._try_at = 0.0
            if self._is_behind():
                self._catch_up()
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def _is_behind(self) -> bool:
        return bool(self._owed or self._gap_bytes)

    def _catch_up(self) -> bool:
        """Say what was left out. Whether there is room again."""
        if time.monotonic() < self._try_at:
            return False
        if not self._owed:
            lines = f"{self._gap_lines} line" + ("" if self._gap_lines == 1 else "s")
            said = f"[paceline: {lines} ({self._gap_bytes} bytes) could not be kept: {self._why}]\n".encode()
            marker = b"\n" + said if self._is_in_line else said
            self._owed = self._write(marker)
            if len(self._owed) == len(marker):
                self._owed = b""
                return False
            self._gap_bytes = self._gap_lines = 0
        self._owed = self._write(self._owed)
        return not self._owed and (not self._gap_bytes or self._catch_up())

    def _leave_out(self, data: bytes) -> None:
        self.lost += len(data)
        self._gap_bytes += len(data)
        self._gap_lines += data.count(b"\n")

    def _write(self, data: bytes) -> bytes:
        """Returns what the disk did not take."""
        written = 0
        try:
            if self._file < 0:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            self._why = "the disk was full" if error.errno in NO_ROOM else "the disk failed"
            self._try_at = time.monotonic() + TRY_EVERY
        if written:
            self._is_in_line = data[written - 1 : written] != b"\n"
        return data[written:]
