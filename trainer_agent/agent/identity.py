"""Who this node is: node.json in the agent's home, readable by its owner only."""

from pathlib import Path

import msgspec

from trainer_agent.agent.errors import NoIdentity
from trainer_agent.agent.files import write_whole


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What the server gave at enrolment, and how this machine is to be used."""

    node: str
    name: str
    token: str
    redis_url: str
    url: str
    cpu_slots: int | None = None  # None: one slot per GPU
    python: str  # the interpreter that trains


def path(home: Path) -> Path:
    """Where it lies."""
    return home / "node.json"


def load(home: Path) -> Identity:
    """Read it, or NoIdentity with a sentence."""
    try:
        return msgspec.json.decode(path(home).read_bytes(), type=Identity)
    except FileNotFoundError as error:
        raise NoIdentity(f"{home} holds no node yet. Enrol it with: paceline join URL --token TOKEN") from error
    except msgspec.MsgspecError as error:
        raise NoIdentity(f"{path(home)} cannot be read: {error}. Remove it and join again.") from error


def save(home: Path, identity: Identity) -> None:
    """Write it, mode 0600."""
    home.mkdir(parents=True, exist_ok=True)
    write_whole(path(home), msgspec.json.encode(identity), 0o600)
