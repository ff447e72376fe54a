"""The folder that holds everything of one `manage.py up`: who owns it now, its secrets, its ports, its login."""

import fcntl
import json
import os
import random
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Below the range from which the kernel takes ports for outgoing connections, so that a port that we keep stays ours.
_INTERNAL_PORTS = range(20_000, 29_000)


class CannotStart(Exception):
    """`up` cannot start; the text says why and what to do."""


@dataclass(frozen=True)
class Home:
    """Paths below `--home`. Every secret in it has mode 0600, the folder itself 0700."""

    root: Path

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """Process ids of the parts."""
        return self.root / "run"

    @property
    def redis(self) -> Path:
        return self.root / "redis"

    @property
    def secret_key(self) -> Path:
        return self.root / "secret_key"

    @property
    def redis_password(self) -> Path:
        return self.redis / "password"

    @property
    def redis_url(self) -> Path:
        return self.redis / "url"

    @property
    def login(self) -> Path:
        """JSON `{username, password, token}` of the first admin."""
        return self.root / "login.json"

    @property
    def connection(self) -> Path:
        """JSON `{url, username, password, token}`; there from when everything is ready until it is stopped."""
        return self.root / "connection.json"

    def node(self, name: str) -> Path:
        """Home of the local agent `local-1`, `local-2`, …"""
        return self.root / "nodes" / name

    def join_token(self, name: str) -> Path:
        return self.node(name) / "join_token"

    def prepare(self) -> None:
        """Make the folders and the secrets that are missing."""
        for folder in (self.root, self.logs, self.run, self.redis, self.root / "nodes", self.root / "media"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in (self.secret_key, self.redis_password):
            if not path.exists():
                write_private(path, secrets.token_urlsafe(48))

    def lock(self) -> "Lock":
        """Hold this folder until the process ends. CannotStart names who holds it already."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.root / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 1000).decode() or "another process"
            os.close(descriptor)
            raise CannotStart(f"{self.root} is in use by {holder}. Stop that, or choose another --home.") from error
        return Lock(descriptor)

    def port(self, name: str, address: str) -> int:
        """The internal port of `name`, the same at every start, because nodes remember it."""
        path = self.root / "ports.json"
        ports: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
        if name not in ports:
            ports[name] = _free_internal_port(address)
            write_private(path, json.dumps(ports))
        elif not is_free(address, ports[name]):
            raise CannotStart(f"Port {ports[name]}, which {name} of {self.root} uses, is taken by another program.")
        return ports[name]


@dataclass(frozen=True)
class Lock:
    """The held lock of a home; the system lets go of it when the process ends, however it ends."""

    descriptor: int

    def held_by(self, holder: str) -> None:
        """What the next one who wants this folder is told."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, holder.encode(), 0)


def is_free(address: str, port: int) -> bool:
    """Could we listen there?"""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((address, port))
        except OSError:
            return False
    return True


def write_private(path: Path, content: str) -> None:
    """Write atomically, readable by the owner only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
    temporary.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """The object in `path`, empty when it is missing or broken."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _free_internal_port(address: str) -> int:
    for port in random.sample(_INTERNAL_PORTS, 200):
        if is_free(address, port):
            return port
    raise CannotStart(f"No free port between {_INTERNAL_PORTS.start} and {_INTERNAL_PORTS.stop}.")
