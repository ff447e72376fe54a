"""Finds and ends every process of one attempt on this node, and proves that it is gone. Linux, stdlib only.

A process belongs to the attempt when it descends from the shim (which adopts orphans, being the subreaper), when its
environment carries the attempt's mark, when it is in the attempt's control group, or when it descends from such a one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass

from trainer_agent.shim import cgroup
from trainer_agent.wire import environment

LOOK_EVERY = 0.05  # seconds
POLITE = 1.0  # seconds between SIGTERM and SIGKILL for what the grace period left behind
PATIENCE = 10.0  # seconds of SIGKILL before what still lives is named as a survivor


@dataclass(frozen=True)
class Process:
    """One line of /proc."""

    pid: int
    parent: int
    state: str
    start_time: int  # clock ticks after boot
    name: str


def end_tree(root: int | None, mark: str, group: str = "") -> list[Process]:
    """SIGTERM, then SIGKILL to all members until none lives. Returns those that could not be ended.

    `group`: folder of the attempt's control group, empty without one.
    """
    started = time.monotonic()
    while True:
        reap()
        alive = members(root, mark, group)
        spent = time.monotonic() - started
        if not alive or spent > POLITE + PATIENCE:
            return alive
        if spent >= POLITE:
            cgroup.kill(group)
        for process in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGTERM if spent < POLITE else signal.SIGKILL)
        time.sleep(LOOK_EVERY)


def members(root: int | None, mark: str, group: str = "") -> list[Process]:
    """The living processes of the attempt. `root` itself (the shim) is none of them."""
    everyone = processes()
    roots = {p.pid for p in everyone.values() if carries(p.pid, mark)} | set(cgroup.members(group))
    if root is not None:
        roots.add(root)
    found = {pid for pid in everyone if _descends(pid, roots, everyone)}
    found -= {root, os.getpid()}
    return [everyone[pid] for pid in sorted(found) if everyone[pid].state not in "ZX"]


def processes() -> dict[int, Process]:
    """Everything in /proc, by process id."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (process := look_up(int(entry))):
            found[process.pid] = process
    return found


def look_up(pid: int) -> Process | None:
    """One process, or None when there is none (a zombie still is one)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            head, _, tail = file.read().decode("utf-8", "replace").rpartition(")")
    except OSError:
        return None
    fields = tail.split()
    return Process(
        pid=pid, parent=int(fields[1]), state=fields[0], start_time=int(fields[19]), name=head.partition("(")[2]
    )


def is_alive(pid: int, start_time: int) -> bool:
    """Whether this very process, not one that got its number later, still runs."""
    process = look_up(pid)
    return process is not None and process.start_time == start_time and process.state not in "ZX"


def carries(pid: int, mark: str) -> bool:
    """Whether the process was started with the attempt's mark in its environment."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{environment.MARK}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def reap() -> dict[int, int]:
    """Collect ended children, adopted ones too: process id -> wait status."""
    ended = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            ended[pid] = status
    return ended


def boot_id() -> str:
    """Names this boot of the machine; process ids of another boot mean nothing."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _descends(pid: int, roots: set[int], everyone: dict[int, Process]) -> bool:
    seen: set[int] = set()
    while pid in everyone and pid not in seen:
        if pid in roots:
            return True
        seen.add(pid)
        pid = everyone[pid].parent
    return False
