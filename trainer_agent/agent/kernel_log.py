"""Processes that the kernel says it has killed for want of memory."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator

_KILLED = re.compile(r"Killed process (\d+)|oom-kill:.*\bpid=(\d+)")
_PRINTED = re.compile(r"\[\s*(\d+\.\d+)\] (.*)")  # as dmesg prints a record
RECORD = 8192  # bytes, more than one record can have
_FIRST_NAMESPACE = "pid:[4026531836]"  # a constant of the kernel: elsewhere its log names processes by other numbers


def killed(since: float) -> set[int] | None:
    """Their process ids, from `since` (seconds after boot) on. None when this machine does not let us read its log."""
    try:
        ours = os.readlink("/proc/self/ns/pid") == _FIRST_NAMESPACE
    except OSError:
        ours = False
    lines = (_device() or _program()) if ours else None
    return None if lines is None else killed_in(lines, since)


def killed_in(lines: list[tuple[float, str]], since: float) -> set[int]:
    """The same of lines with their seconds after boot: pure."""
    found = (_KILLED.search(text) for at, text in lines if at >= since)
    return {int(match[1] or match[2]) for match in found if match}


def kill_count() -> int:
    """Processes of this machine that the kernel has killed for want of memory since boot."""
    return _oom_kills("/proc/vmstat")


def group_kill_count(folder: str) -> int:
    """The same of one control group, by its folder; 0 where it does not count."""
    return _oom_kills(f"{folder}/memory.events") if folder else 0


def _oom_kills(path: str) -> int:
    with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _device() -> list[tuple[float, str]] | None:
    """All records of /dev/kmsg: `priority,number,microseconds,flags;text`."""
    try:
        fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return [_record(raw) for raw in _records(fd)]
    finally:
        os.close(fd)


def _records(fd: int) -> Iterator[str]:
    while True:
        try:
            yield os.read(fd, RECORD).decode("utf-8", "replace")
        except BrokenPipeError:
            continue  # overwritten while we read; the next one follows
        except OSError:
            return


def _record(raw: str) -> tuple[float, str]:
    head, _, text = raw.partition(";")
    with contextlib.suppress(IndexError, ValueError):
        return int(head.split(",")[2]) / 1e6, text
    return 0.0, text


def _program() -> list[tuple[float, str]] | None:
    """What `dmesg` prints, for machines that hide the device from containers."""
    try:
        done = subprocess.run(["dmesg"], capture_output=True, text=True, errors="replace", timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return [(float(match[1]), match[2]) for match in map(_PRINTED.match, done.stdout.splitlines()) if match]
