"""Launches that live on the local nodes of one home, read from the agents' folders (docs/wire.md), because the agents
themselves may be gone; and how their shims are told to hurry."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from webapp.supervisor.home import Home, read_json, write_private

_GRACE_S = 1.5


def shim_pids(home: Home) -> list[int]:
    """Process ids of the shims that live."""
    return [int(read_json(folder / "shim.json")["pid"]) for folder in _live_attempts(home)]


def hurry_shims(home: Home) -> bool:
    """Tell every shim to stop its ranks within _GRACE_S seconds, however long its run would give. False: none lives."""
    folders = list(_live_attempts(home))
    for folder in folders:
        order = read_json(folder / "stop.json")
        if float(order.get("grace", _GRACE_S + 1)) > _GRACE_S:
            hurried = {"signal": "SIGTERM", "reason": "stopped", **order, "grace": _GRACE_S}
            write_private(folder / "stop.json", json.dumps(hurried))
    return bool(folders)


def _live_attempts(home: Home) -> Iterator[Path]:
    for path in home.root.glob("nodes/*/attempts/*/shim.json"):
        if _lives(read_json(path)):
            yield path.parent


def _lives(shim: dict[str, Any]) -> bool:
    """The very process, not one that got its number later: field 22 of its stat is its start in ticks after boot."""
    try:
        state, *fields = Path(f"/proc/{shim['pid']}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (OSError, KeyError):
        return False
    return state not in "ZX" and int(fields[18]) == shim.get("start_time")
