"""Runs on the local nodes of one home: do any live, and how they are told to stop when `up` stops.

Everything is read from the agents' folders (docs/wire.md, "Files of one attempt on a node"), because the agents
themselves may be gone.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from webapp.supervisor.home import Home, read_json, write_private

_GRACE_S = 2.0


def any_alive(home: Home) -> bool:
    return any(True for _ in _live_attempts(home))


def hurry_shims(home: Home) -> None:
    """Tell every shim to stop its ranks within _GRACE_S seconds."""
    for attempt in _live_attempts(home):
        write_private(attempt / "stop.json", json.dumps({"signal": "SIGTERM", "grace": _GRACE_S}))


def ask_the_server_to_stop(home: Home) -> None:
    """So that the runs end as `stopped`, not as `failed`. A server that does not answer changes nothing."""
    connection = read_json(home.connection)
    if not connection:
        return
    keys = {attempt.name for attempt in _live_attempts(home)}
    try:
        for run in _call(connection, "GET", "runs?q=status:running,starting").get("runs", []):
            if keys:
                _call(connection, "POST", f"runs/{run['id']}/stop")
    except (OSError, ValueError, KeyError, urllib.error.URLError):
        return


def _call(connection: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 - our own http address
        f"{connection['url']}/api/v1/{path}",
        method=method,
        headers={"Authorization": f"Bearer {connection['token']}"},
    )
    with urllib.request.urlopen(request, timeout=1) as reply:  # noqa: S310
        answer = json.loads(reply.read())
    return answer if isinstance(answer, dict) else {"runs": answer}


def _live_attempts(home: Home) -> Iterator[Path]:
    for path in home.root.glob("nodes/*/attempts/*/shim.json"):
        if _lives(read_json(path)):
            yield path.parent


def _lives(shim: dict[str, Any]) -> bool:
    try:
        process = psutil.Process(int(shim["pid"]))
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - float(shim["start_time"])) < 2
    except (psutil.Error, KeyError, TypeError, ValueError):
        return False
