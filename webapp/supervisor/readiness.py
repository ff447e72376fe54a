"""What /healthz of our own web part says."""

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass


@dataclass(frozen=True)
class Readiness:
    """`missing` names the parts that are not ready; empty means all are."""

    missing: list[str]


def ask(url: str) -> Readiness | None:
    """None while the web part does not answer."""
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
