"""One part: a child process in a session of its own, its log file, and when to start it again."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from webapp.supervisor.home import Home

LOG_LIMIT = 5 * 1024 * 1024  # bytes; the older half of a log lies in <part>.log.1
_STEADY_AFTER_S = 30.0
_LONGEST_WAIT_S = 15.0


def wait_before_start(deaths: int) -> float:
    """Seconds to wait before the next start after `deaths` deaths in a row."""
    return 0.0 if deaths == 0 else min(0.25 * 2.0 ** (deaths - 1), _LONGEST_WAIT_S)


@dataclass(frozen=True)
class Death:
    """What to tell of a part that died. `wait` in seconds; `last_lines` only when it died early, for the first time."""

    part: str
    how: str
    wait: float
    last_lines: list[str]


class Part:
    """A process that is meant to run until it is stopped."""

    def __init__(self, name: str, argv: list[str], env: dict[str, str], cwd: Path, home: Home) -> None:
        self.name = name
        self._argv = argv
        self._env = env
        self._cwd = cwd
        self.log = home.logs / f"{name}.log"
        self._pid_file = home.run / f"{name}.pid"
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._log_began = 0
        self._deaths = 0
        self._next_start = 0.0

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        shorten(self.log)
        with self.log.open("ab") as log:
            self._log_began = log.tell()
            self._process = subprocess.Popen(
                self._argv,
                env=self._env,
                cwd=self._cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started = time.monotonic()
        self._pid_file.write_text(f"{self._process.pid} {psutil.Process(self._process.pid).create_time()}")

    def look(self) -> Death | None:
        """Start it again when its time has come. Returns the news when it has just died."""
        now = time.monotonic()
        if self.alive:
            shorten(self.log)
            return None
        if self._process is None:
            if now >= self._next_start:
                self.start()
            return None
        return self._bury(self._process, now)

    def _bury(self, process: subprocess.Popen[bytes], now: float) -> Death:
        lived = now - self._started
        self.kill()
        self._process = None
        self._deaths = 1 if lived > _STEADY_AFTER_S else self._deaths + 1
        wait = wait_before_start(self._deaths)
        self._next_start = now + wait
        lines = last_lines(self.log, self._log_began) if self._deaths == 1 and lived < _STEADY_AFTER_S else []
        return Death(self.name, _how_it_ended(process.returncode), wait, lines)

    def signal(self, number: signal.Signals) -> None:
        """Ask the part itself; its own children are its business."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it and all that is left in its process group."""
        if self._process is None:
            return
        _kill_group(self._process.pid)
        self._process.wait()
        self._pid_file.unlink(missing_ok=True)


def end_leftovers(folder: Path) -> None:
    """Kill the process groups that the pid files in `folder` name. Launches live on, each in its own session."""
    for pid_file in folder.glob("*.pid"):
        _end_leftover(pid_file)
        pid_file.unlink(missing_ok=True)


def _end_leftover(pid_file: Path) -> None:
    try:
        pid, created = pid_file.read_text().split()
        process = psutil.Process(int(pid))
        if abs(process.create_time() - float(created)) < 0.1:
            _kill_group(process.pid)
            process.wait(5)
    except (OSError, ValueError, psutil.Error):
        return


def shorten(log: Path) -> None:
    """Keep the log below LOG_LIMIT: its content moves to <part>.log.1. The part goes on appending to the same file."""
    try:
        if log.stat().st_size < LOG_LIMIT:
            return
    except FileNotFoundError:
        return
    log.with_name(log.name + ".1").write_bytes(log.read_bytes())
    os.truncate(log, 0)


def last_lines(log: Path, since: int = 0, count: int = 8) -> list[str]:
    """The last lines of a log after byte `since`, each at most 300 characters."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(min(since, end), end - 16_384))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return []
    return [line[:300] for line in text.splitlines() if line.strip()][-count:]


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _how_it_ended(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
