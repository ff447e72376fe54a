"""Enrols this machine with a one-time token."""

import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import msgspec

from trainer_agent.agent import identity, inventory
from trainer_agent.agent.errors import JoinRefused
from trainer_agent.agent.gpu import Gpus
from trainer_agent.agent.identity import Identity

TIMEOUT = 20.0  # seconds


def join(home: Path, url: str, token: str, *, name: str = "", slots: int | None = None, python: str = "") -> Identity:
    """Ask the server in, keep what it gives. JoinRefused with a sentence when it does not."""
    url = url.rstrip("/")
    if urlsplit(url).scheme not in ("http", "https"):
        raise JoinRefused(f"{url} is no http or https URL.")
    python = python or sys.executable
    found = inventory.take(python=python, cpu_slots=slots, server_url=url, gpus=Gpus())
    body = {
        "token": token,
        "name": name or socket.gethostname(),
        "slots": len(found.slots),
        "inventory": msgspec.to_builtins(found),
    }
    answer = _post(f"{url}/agent/v1/join", body)
    try:
        node = Identity(
            node=answer["node"],
            name=answer["name"],
            token=answer["token"],
            redis_url=answer["redis_url"],
            url=url,
            cpu_slots=slots,
            python=python,
        )
    except KeyError as error:
        raise JoinRefused(f"{url} answered without {error}: is it a Paceline server of this version?") from error
    identity.save(home, node)
    return node


def _post(url: str, body: dict[str, object]) -> dict[str, str]:
    try:
        answer = httpx.post(url, json=body, timeout=TIMEOUT)
    except httpx.HTTPError as error:
        raise JoinRefused(f"{url} cannot be reached: {error}") from error
    try:
        content = answer.json()
    except ValueError:
        content = {}
    if answer.status_code >= 400 or not isinstance(content, dict) or not content:
        raise JoinRefused(_sentence(content) or f"{url} answered {answer.status_code}.")
    return content


def _sentence(content: object) -> str:
    if not isinstance(content, dict):
        return ""
    return next((str(content[key]) for key in ("detail", "message", "error") if content.get(key)), "")
