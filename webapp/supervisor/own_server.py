"""Calls to our own web part: which parts are ready, and the API as the first admin."""

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from webapp.supervisor.home import Home, read_json


@dataclass(frozen=True)
class Readiness:
    """`missing` names the parts that are not ready; empty means all are."""

    missing: list[str]


def readiness(url: str) -> Readiness | None:
    """What /healthz says; None while the web part does not answer."""
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=3) as reply:  # noqa: S310 - our own http address
            body = reply.read()
    except urllib.error.HTTPError as error:
        body = error.read()
    except (OSError, http.client.HTTPException):
        return None
    try:
        parts: dict[str, str] = json.loads(body)["parts"]
    except (ValueError, KeyError, TypeError):
        return None
    return Readiness([name for name, state in parts.items() if state != "ok"])


def stop_runs_on(home: Home, nodes: list[str]) -> list[str]:
    """Ask for the stop of every run that lives on one of `nodes`, so that it ends as stopped, not as failed.

    Returns the ids of those runs. A server that does not answer changes nothing.
    """
    connection = read_json(home.connection)
    stopped: list[str] = []
    for status in ("running", "starting"):
        for run in _call(connection, "GET", f"runs?limit=200&status={status}") or []:
            if set(run["node_names"]) & set(nodes) and _call(connection, "POST", f"runs/{run['id']}/stop"):
                stopped.append(run["id"])
    return stopped


def has_ended(home: Home, run: str) -> bool:
    """True as well when the server does not answer any more."""
    answer = _call(read_json(home.connection), "GET", f"runs/{run}")
    return answer is None or answer["status"] == "ended"


def _call(connection: dict[str, Any], method: str, path: str) -> Any:
    """The decoded answer, None when there is none."""
    if not connection:
        return None
    request = urllib.request.Request(  # noqa: S310 - our own http address
        f"{connection['url']}/api/v1/{path}",
        method=method,
        headers={"Authorization": f"Bearer {connection['token']}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=1) as reply:  # noqa: S310
            return json.loads(reply.read())
    except (OSError, ValueError, http.client.HTTPException):
        return None
