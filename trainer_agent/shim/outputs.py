"""The command's stdout and stderr on two ways: unchanged to where they would have gone, and into a log. Stdlib only.

A terminal stays a terminal for the command (colours, progress bars, line by line), a pipe or file stays none. Where
both outputs go to the same place they share one way, so that their order stays.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import termios
import threading
import time

from trainer_agent.shim.log_file import LogFile

CHUNK = 64 * 1024
LOG_LIMIT = 1024 * 1024 * 1024  # bytes that the copy may take on this machine
QUIET = 0.3  # seconds without output after the command's end: who still holds it is no part of the launch
_OUTPUT_FLAGS = 1  # index in termios attributes


class Outputs:
    """Make one before the fork; `become` in the child, `started` and `start` in the parent, `finish` at the end."""

    def __init__(self, log: str) -> None:
        self._log = _Log(log)
        ways = [Way(1, self._log)] if _same(1, 2) else [Way(1, self._log), Way(2, self._log)]
        self._ways = [way for way in ways if way.open()]
        self._together = len(ways) == 1

    def become(self) -> None:
        """In the child: stdout and stderr lead into the ways."""
        for way in self._ways:
            os.dup2(way.entrance, way.target)
            if self._together:
                os.dup2(way.entrance, 2)

    def started(self) -> None:
        """In the parent: only the command holds the entrances now."""
        for way in self._ways:
            os.close(way.entrance)

    def start(self) -> None:
        """Copy, in threads of their own."""
        for way in self._ways:
            way.thread.start()

    def resize(self) -> None:
        """The terminal has another size."""
        for way in self._ways:
            way.take_size()

    def finish(self) -> None:
        """The command has ended: copy what is on its way, but wait for nobody who kept an output open."""
        for way in self._ways:
            while way.thread.is_alive() and time.monotonic() - way.moved_at < QUIET:
                way.thread.join(QUIET / 10)
        self._log.close()


class Way:
    """From the command's side of a pipe or pseudo-terminal to the target descriptor."""

    def __init__(self, target: int, log: _Log) -> None:
        self.target = target
        self.entrance = self._exit = -1
        self.moved_at = 0.0
        self._log = log
        self._is_terminal = os.isatty(target)
        self.thread = threading.Thread(target=self._copy, daemon=True)

    def open(self) -> bool:
        """False where there is nothing to copy to, or no way could be made: then the command has the target itself."""
        try:
            os.fstat(self.target)
            self._exit, self.entrance = os.openpty() if self._is_terminal else os.pipe()
            if self._is_terminal:
                attributes = termios.tcgetattr(self.entrance)
                attributes[_OUTPUT_FLAGS] &= ~termios.OPOST  # the real terminal does what is to be done to the bytes
                termios.tcsetattr(self.entrance, termios.TCSANOW, attributes)
                self.take_size()
        except (OSError, termios.error):
            return False
        return True

    def take_size(self) -> None:
        """Be as large as the terminal."""
        if self._is_terminal:
            with contextlib.suppress(OSError):
                size = fcntl.ioctl(self.target, termios.TIOCGWINSZ, bytes(8))
                fcntl.ioctl(self._exit, termios.TIOCSWINSZ, size)

    def _copy(self) -> None:
        """Until the last holder has closed. A target that is gone closes the way, so that the command learns it."""
        self.moved_at = time.monotonic()
        with contextlib.suppress(OSError):
            while data := os.read(self._exit, CHUNK):
                self.moved_at = time.monotonic()
                _write_all(self.target, data)
                self._log.append(data)
                self.moved_at = time.monotonic()
        os.close(self._exit)


class _Log:
    """The copy, up to a limit. A full disk costs lines of it, nothing else."""

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self._file = LogFile(path)
        self._left = LOG_LIMIT

    def append(self, data: bytes) -> None:
        """One piece, whole."""
        with self._lock:
            if self._left < 0:
                return
            self._left -= len(data)
            if self._left < 0:
                data = b"\n[paceline: the output is longer than is kept; the rest is not copied]\n"
            self._file.append(data)

    def close(self) -> None:
        """No more will come."""
        self._file.close()


def _write_all(target: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(target, left) :]
        except BlockingIOError:  # somebody made the terminal non-blocking
            select.select([], [target], [])


def _same(one: int, other: int) -> bool:
    try:
        return os.path.sameopenfile(one, other)
    except OSError:
        return False
