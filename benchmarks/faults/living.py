"""Which processes of which run live on this machine, from /proc alone."""

import os
from pathlib import Path

from benchmarks.faults.attacked import alive
from trainer_agent.wire import environment


def living() -> dict[str, list[int]]:
    """Run -> process ids of its launchers, ranks and their children."""
    found: dict[str, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (run := _run_of(int(entry))) and alive(int(entry)):
            found.setdefault(run, []).append(int(entry))
    return found


def what(pid: int) -> str:
    """Its command line, for a person."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return f"{pid} (gone by now)"
    return f"{pid} {line[:150]}"


def _run_of(pid: int) -> str:
    try:
        content = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return ""
    name = f"{environment.RUN}=".encode()
    return next((value[len(name) :].decode() for value in content.split(b"\0") if value.startswith(name)), "")
