"""A control group (v2) of one attempt's own, where this machine lets us have one. Linux, stdlib only.

What was started in it cannot leave it by a new session, an emptied environment or a parent that dies. Everything here
is optional: without a mount, without permission, on an older kernel the other ways of finding processes do it alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time

GONE_IN = 1.0  # seconds that the kernel has to take the last dead process out
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def create(mark: str) -> str:
    """The new group's folder for the attempt with this mark, empty when there can be none.

    One of that name that an earlier launch of the attempt left is taken over.
    """
    parent = own_folder()
    if not parent:
        return ""
    folder = os.path.join(parent, f"paceline-{_UNSAFE.sub('-', mark)}")
    try:
        os.mkdir(folder)
    except FileExistsError:
        pass
    except OSError:
        return ""
    with contextlib.suppress(OSError):  # memory.events needs it; refused where the group above holds processes itself
        _write(f"{parent}/cgroup.subtree_control", "+memory")
    return folder


def own_folder() -> str:
    """Where this process' own group lies in the file system: a group below it keeps every limit of the machine's."""
    mount = _mount()
    with contextlib.suppress(OSError), open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            number, _, path = line.rstrip("\n").split(":", 2)
            if number == "0" and mount and ".." not in path:  # it lies outside of what this namespace shows
                return os.path.normpath(f"{mount}/{path}")
    return ""


def enter(folder: str) -> None:
    """Move this process, and so all that it starts, into the group. Does nothing without one."""
    if folder:
        with contextlib.suppress(OSError):
            _write(f"{folder}/cgroup.procs", str(os.getpid()))


def members(folder: str) -> list[int]:
    """Process ids in the group and in those that its processes made below it."""
    found: list[int] = []
    for place in _tree(folder):
        with contextlib.suppress(OSError), open(f"{place}/cgroup.procs", encoding="ascii") as file:
            found += [int(line) for line in file if line.strip()]
    return found


def kill(folder: str) -> None:
    """SIGKILL to all members at once; nothing can fork its way out."""
    if folder:
        with contextlib.suppress(OSError):
            _write(f"{folder}/cgroup.kill", "1")


def oom_kills(folder: str) -> int:
    """How many members the kernel has killed for want of memory; 0 where it does not say."""
    with contextlib.suppress(OSError, ValueError), open(f"{folder}/memory.events", encoding="ascii") as file:
        for line in file:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def remove(folder: str) -> bool:
    """Take the empty group away. False when something is still in it. A dead member leaves it a moment later."""
    deadline = time.monotonic() + GONE_IN
    for place in reversed(_tree(folder)):
        while not _removed(place):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
    return True


def _removed(place: str) -> bool:
    try:
        os.rmdir(place)
    except OSError as error:
        return error.errno != errno.EBUSY  # gone already, or never ours to remove
    return True


def _tree(folder: str) -> list[str]:
    """The group and those below it, from the top."""
    return [place for place, _folders, _files in os.walk(folder)] if folder else []


def _mount() -> str:
    with contextlib.suppress(OSError), open("/proc/mounts", encoding="utf-8") as file:
        for line in file:
            fields = line.split(" ")
            if fields[2] == "cgroup2":
                return fields[1].replace("\\040", " ")
    return ""


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
