"""Who owns what a lab makes: all names hold the owner's process id, and a lock in its folder says whether it lives."""

import fcntl
import os
import re
import shutil
import tempfile
from pathlib import Path

from tests.lab.commands import run, tried
from webapp.supervisor.home import Home
from webapp.supervisor.leftovers import kill_all_of

PREFIX = "plab"  # of namespaces, bridges and interfaces; at most 15 letters with process id and number
_FOLDERS = Path(tempfile.gettempdir())
_STEM = "paceline-lab-"


class Owner:
    """This process's claim. The kernel gives the lock back however the process ends."""

    def __init__(self) -> None:
        self.folder = _FOLDERS / f"{_STEM}{os.getpid()}"
        self.folder.mkdir(mode=0o700)
        self._lock = _lock(self.folder)

    @property
    def prefix(self) -> str:
        """How the names of all that is ours begin."""
        return f"{PREFIX}{os.getpid()}"

    def end(self) -> None:
        """Take away all that is ours."""
        remove(self.folder)
        os.close(self._lock)


def sweep() -> list[int]:
    """Take away what dead owners left; their process ids."""
    swept = []
    for folder in _FOLDERS.glob(f"{_STEM}*"):
        try:
            lock = _lock(folder)
        except OSError:
            continue  # its owner lives
        remove(folder)
        os.close(lock)
        swept.append(_pid_of(folder))
    return swept


def remove(folder: Path) -> None:
    """Processes, namespaces, interfaces and files of one owner. Interfaces inside a namespace go with it."""
    kill_all_of(Home(folder / "home"), 5)
    mine = re.compile(rf"{PREFIX}{_pid_of(folder)}(-\w+)?")
    for line in run("ip netns list").splitlines():
        if mine.fullmatch(name := line.split()[0]):
            tried(f"ip netns delete {name}")
    for line in run("ip -o link show").splitlines():
        if mine.fullmatch(name := re.split(r"[:@]\s*", line)[1].strip()):
            tried(f"ip link delete {name}")
    shutil.rmtree(folder, ignore_errors=True)


def _pid_of(folder: Path) -> int:
    return int(folder.name.removeprefix(_STEM))


def _lock(folder: Path) -> int:
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle
