"""Processes of this machine, read from /proc in one pass."""

import os
from dataclasses import dataclass, field

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Process:
    """`cpu` seconds used so far, `rss` bytes, `start_time` clock ticks after boot."""

    pid: int
    parent: int
    state: str
    cpu: float
    rss: int
    start_time: int


@dataclass(slots=True)
class Snapshot:
    """All processes at one moment."""

    everyone: dict[int, Process]
    children: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for process in self.everyone.values():
            self.children.setdefault(process.parent, []).append(process.pid)

    def with_descendants(self, pid: int) -> list[Process]:
        """The process and everything below it; empty when it is gone."""
        found, look_at = [], [pid]
        while look_at:
            process = self.everyone.get(look_at.pop())
            if process is not None:
                found.append(process)
                look_at += self.children.get(process.pid, [])
        return found


def snapshot() -> Snapshot:
    """Read /proc."""
    found = (look_up(int(entry)) for entry in os.listdir("/proc") if entry.isdigit())
    return Snapshot({process.pid: process for process in found if process})


def look_up(pid: int) -> Process | None:
    """One process, or None when there is none (a zombie still is one)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            f = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    cpu = (int(f[11]) + int(f[12])) / TICKS
    return Process(pid, int(f[1]), f[0].decode(), cpu, int(f[21]) * PAGE, int(f[19]))


def is_alive(pid: int, start_time: int) -> bool:
    """Whether this very process, not one that got its number later, still runs."""
    process = look_up(pid)
    return process is not None and process.start_time == start_time and process.state not in "ZX"


def name_of(pid: int) -> str:
    """What the kernel calls the process, empty when there is none."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def boot_id() -> str:
    """Names this boot of the machine."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
