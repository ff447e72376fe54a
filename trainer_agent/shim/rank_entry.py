"""Parent of one rank. The launcher runs it once per rank: `rank_entry.py ARGV…` with RANK and PACELINE_RANK_DIR set.

Starts the user's program, copies its stdout and stderr into the rank's log, passes signals on (each one once), writes
rank<r>.started.json and rank<r>.exited.json, and ends the way the program ended. Stdlib only, never imports torch.

    train.py …          sys.executable -u train.py …
    -m package …        sys.executable -u -m package …
    python …            sys.executable …
    anything else       that program
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import shutil
import signal
import sys
import threading
import time
from typing import NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from trainer_agent.shim import tree
from trainer_agent.shim.files import write_json, write_json_until
from trainer_agent.shim.rank_log import RankLog
from trainer_agent.wire import environment
from trainer_agent.wire.whole_file import keep_room

PR_SET_PDEATHSIG = 1
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
HOLD_LOOKS_EVERY = 0.05  # seconds
DISK_PATIENCE = 60.0  # seconds in which a full disk may find room for what a rank's end was; the launcher tells it too
NO_SCRIPT, NO_PROGRAM, STOPPED_BEFORE_START = 2, 127, 128 + signal.SIGTERM


def main(argv: list[str]) -> NoReturn:
    """Run the user's program as this rank, then end as it did."""
    entry = RankEntry(os.environ[environment.RANK_DIR], int(os.environ["RANK"]))
    entry.take_outputs()
    command = command_of(argv)
    complaint, code = complaint_about(command)
    if complaint:
        entry.note_started(os.getpid(), command)
        entry.say(complaint)
        entry.note_exited(code << 8, 0, time.time())
        os._exit(code)
    if entry.is_stopping():
        os._exit(STOPPED_BEFORE_START)
    status = entry.run(command)
    entry.hold_while_others_stop()
    end_like(status)


def command_of(argv: list[str]) -> list[str]:
    """What to execute for the argv that a person wrote."""
    first = argv[0] if argv else ""
    if first.endswith(".py") or first == "-m":
        return [sys.executable, "-u", *argv]
    if first in ("python", "python3"):
        return [sys.executable, *argv[1:]]
    return list(argv)


def complaint_about(command: list[str]) -> tuple[str, int]:
    """One sentence and the exit code when the script or program is not there, else ("", 0)."""
    if not command:
        return "There is no command to run.", NO_PROGRAM
    if command[0] != sys.executable:
        if shutil.which(command[0]) is None:
            return f"The program {command[0]} was not found on this node.", NO_PROGRAM
        return "", 0
    script = next((part for part in command[1:] if not part.startswith("-")), "")
    if script.endswith(".py") and "-m" not in command[1:3] and not os.path.isfile(script):
        return f"The script {os.path.abspath(script)} does not exist on this node.", NO_SCRIPT
    return "", 0


def end_like(status: int) -> NoReturn:
    """Same exit code, or death by the same signal without a second core dump."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(1)
    os._exit(os.WEXITSTATUS(status))


class RankEntry:
    """One rank's files and its one child."""

    def __init__(self, folder: str, rank: int) -> None:
        self.folder = folder
        self.rank = rank
        self.child = 0
        self.passed_on: set[int] = set()
        self.log = RankLog(f"{folder}/rank{rank}.log")

    def take_outputs(self) -> None:
        """stdin from nowhere; should this process itself fail, the rank's log says so. The rank has its own outputs."""
        with contextlib.suppress(OSError):
            for what in ("started", "exited"):
                keep_room(self._of(what))
        nothing = log = os.open(os.devnull, os.O_RDWR)
        with contextlib.suppress(OSError):
            log = os.open(f"{self.folder}/rank{self.rank}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)

    def say(self, line: str) -> None:
        """A line of ours in the rank's log."""
        self.log.file.append(f"{line}\n".encode("utf-8", "surrogateescape"))

    def run(self, command: list[str]) -> int:
        """Start the program and wait for it. Returns its wait status."""
        libc = ctypes.CDLL(None)
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)  # nothing may come between fork and the handlers
        self.child = os.fork()
        if not self.child:
            self.log.become()
            _become(command, libc, parent)
        self.log.start()
        for number in PASSED_ON:
            signal.signal(number, self._pass_on)
        self.note_started(self.child, command)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        _, status, usage = os.wait4(self.child, 0)
        at = time.time()
        self.child = 0
        self.log.finish()
        self.note_exited(status, usage.ru_maxrss, at)
        return status

    def note_started(self, pid: int, command: list[str]) -> None:
        """Write rank<r>.started.json."""
        child, me = tree.look_up(pid), tree.look_up(os.getpid())
        content = {
            "pid": pid,
            "start_time": child.start_time if child else 0,
            "entry_pid": os.getpid(),
            "entry_start_time": me.start_time if me else 0,
            "argv": command,
            "python": sys.version.split()[0],
            "at": time.time(),
        }
        try:
            write_json(self._of("started"), content)
        except OSError:  # nobody knows of the rank until the disk has room, but it trains
            again = threading.Thread(
                target=write_json_until, args=(self._of("started"), content, math.inf), daemon=True
            )
            again.start()

    def note_exited(self, status: int, max_rss_kb: int, at: float) -> None:
        """Write rank<r>.exited.json."""
        signalled = os.WIFSIGNALED(status)
        content = {
            "code": None if signalled else os.WEXITSTATUS(status),
            "signal": os.WTERMSIG(status) if signalled else None,
            "at": at,
            "max_rss_kb": max_rss_kb,
            "log_lost": self.log.file.lost,
        }
        write_json_until(self._of("exited"), content, DISK_PATIENCE)

    def is_stopping(self) -> bool:
        """Whether the attempt was asked to stop."""
        return os.path.exists(f"{os.path.dirname(self.folder)}/stop.json")

    def hold_while_others_stop(self) -> None:
        """In a stop, stay until the node's other ranks ended: the launcher would cut their grace period short."""
        first = self.rank - int(os.environ.get("LOCAL_RANK", "0"))
        local = range(first, first + int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
        while self.is_stopping() and any(self._lives(rank) for rank in local):
            time.sleep(HOLD_LOOKS_EVERY)

    def _of(self, what: str) -> str:
        return f"{self.folder}/rank{self.rank}.{what}.json"

    def _lives(self, rank: int) -> bool:
        base = f"{self.folder}/rank{rank}"
        return os.path.exists(f"{base}.started.json") and not os.path.exists(f"{base}.exited.json")

    def _pass_on(self, number: int, _frame: object) -> None:
        """Both launcher and shim may send the same signal; a handler that saves a checkpoint must not run twice."""
        if self.child and number not in self.passed_on:
            self.passed_on.add(number)
            os.kill(self.child, number)


def _become(command: list[str], libc: ctypes.CDLL, parent: int) -> NoReturn:
    """In the child: own process group (signals reach it once, from its parent), dies with its parent."""
    try:
        os.setpgid(0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored_by_python, signal.SIG_DFL)
        if os.getppid() == parent:
            os.execvp(command[0], command)  # noqa: S606  (no shell is the point)
    except OSError as error:
        os.write(2, f"{command[0]} could not be started: {error}\n".encode("utf-8", "surrogateescape"))
    finally:
        os._exit(NO_PROGRAM)


if __name__ == "__main__":
    main(sys.argv[1:])
