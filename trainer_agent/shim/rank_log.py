"""The way of a rank's output into its log: a pipe, so that a full disk is no trouble of the script. Stdlib only."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
import threading
import time
from collections.abc import Callable

from trainer_agent.shim.log_file import LogFile

PIPE_BYTES = 1024 * 1024  # what the rank may print while this process is held up
CHUNK = 256 * 1024
QUIET, LONGEST = 0.2, 0.8  # seconds after the rank's end for children that print on: between two words, and in all
SLOW_DISK = 30.0  # seconds for what the rank itself printed last
_F_SETPIPE_SZ = 1031


class RankLog:
    """Make one before the fork; `become` in the child, `start` in the parent, `finish` after the child's end."""

    def __init__(self, path: str) -> None:
        self.file = LogFile(path)
        self._exit, self._entrance = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._exit, _F_SETPIPE_SZ, PIPE_BYTES)
        # Open for reading too, the pipe outlives us: a daemon that the rank left behind is not ended by SIGPIPE when
        # we go. What it prints after that stays in the pipe, and when the pipe is full it waits.
        with contextlib.suppress(OSError):
            both = os.open(f"/proc/self/fd/{self._entrance}", os.O_RDWR | os.O_CLOEXEC)
            os.close(self._entrance)
            self._entrance = both
        self._taken = self._kept = 0  # bytes out of the pipe, and of these the ones that the log has had
        self._moved_at = 0.0
        self._thread = threading.Thread(target=self._copy, daemon=True)

    def become(self) -> None:
        """In the child: stdout and stderr lead into the pipe, as one byte stream."""
        for target in (1, 2):
            os.dup2(self._entrance, target)

    def start(self) -> None:
        """In the parent: copy, in a thread of its own."""
        os.close(self._entrance)
        self._thread.start()

    def finish(self) -> None:
        """The rank has ended: copy what is on its way, but wait for nobody who keeps the pipe open."""
        on_its_way = self._taken + self._waiting()
        self._wait(SLOW_DISK, lambda: self._kept < on_its_way)
        self._moved_at = time.monotonic()
        self._wait(LONGEST, lambda: time.monotonic() < self._moved_at + QUIET)
        self.file.close()

    def _wait(self, longest: float, is_needed: Callable[[], bool]) -> None:
        deadline = time.monotonic() + longest
        while self._thread.is_alive() and is_needed() and time.monotonic() < deadline:
            self._thread.join(QUIET / 20)

    def _waiting(self) -> int:
        """Bytes in the pipe."""
        with contextlib.suppress(OSError):
            return int(struct.unpack("i", fcntl.ioctl(self._exit, termios.FIONREAD, bytes(4)))[0])
        return 0

    def _copy(self) -> None:
        """Until the last holder has closed it."""
        while data := os.read(self._exit, CHUNK):
            self._taken += len(data)
            self.file.append(data)
            self._kept += len(data)
            self._moved_at = time.monotonic()
