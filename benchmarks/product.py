"""The whole product, started for a measurement or a test in a folder of its own and stopped afterwards."""

import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx

REPO = Path(__file__).resolve().parent.parent
# What a test run sets for itself; `up` decides these alone, and the settings are the product's.
NOT_INHERITED = ("REDIS_URL", "DATABASE_URL", "PACELINE_HOME", "SECRET_KEY", "DJANGO_SETTINGS_MODULE")
# Names a database that is migrated and empty: tests, which start many products, have them begin with a copy.
MIGRATED = "PACELINE_MIGRATED_DATABASE"
T = TypeVar("T")
TLS = ssl.create_default_context()  # made once: it takes more of the processor than a question


@dataclass(frozen=True, slots=True)
class Product:
    """A running Paceline: its address, its login, the folder of its state, its database (empty: a SQLite in there)."""

    home: Path
    url: str
    username: str
    password: str
    token: str
    database: str = ""

    def api(self, method: str, path: str, **options: Any) -> Any:
        """Call the HTTP API, JSON out; raises for an error status."""
        headers = {"Authorization": f"Bearer {self.token}"}
        options = {"headers": headers, "timeout": 30, "verify": TLS, **options}
        reply = httpx.request(method, f"{self.url}/api/v1/{path}", **options)
        reply.raise_for_status()
        return reply.json()

    def paceline(self, *arguments: str) -> str:
        """Run the command line as this product's admin; its standard output."""
        env = {**os.environ, "PACELINE_URL": self.url, "PACELINE_TOKEN": self.token}
        command = [sys.executable, "-m", "trainer_agent.cli", *arguments]
        done = subprocess.run(command, cwd=REPO, env=env, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"paceline {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.strip()


@contextmanager
def product(*, nodes: int = 2, slots: int = 2) -> Iterator[Product]:
    """`manage.py up` in a temporary folder, ready when this returns; nothing is left afterwards."""
    with tempfile.TemporaryDirectory(prefix="paceline-") as folder:
        home = Path(folder)
        up = start_up(home, free_port(), nodes=nodes, slots=slots)
        try:
            yield wait_until_ready(home, up)
        finally:
            up.send_signal(signal.SIGTERM)
            up.wait(20)


def start_up(home: Path, port: int, *, nodes: int, slots: int, address: str = "127.0.0.1") -> "subprocess.Popen[bytes]":
    """The process of `manage.py up`, which writes to `up.log` in the home."""
    migrated, database = os.environ.get(MIGRATED), home / "paceline.sqlite3"
    if migrated and not database.exists():
        shutil.copy(migrated, database)
    command = [sys.executable, "manage.py", "up", "--home", str(home), "--port", str(port)]
    command += ["--nodes", str(nodes), "--slots", str(slots), "--address", address]
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    first = random.randrange(10_000, 19_000)  # several products on one machine do not meet on their ports
    environment.setdefault("RENDEZVOUS_PORTS", f"{first},{first + 199}")
    with (home / "up.log").open("ab") as log:
        return subprocess.Popen(command, cwd=REPO, env=environment, stdout=log, stderr=log)


def wait_until_ready(home: Path, up: "subprocess.Popen[bytes]") -> Product:
    """The product of a home, once every part of it is ready."""
    return Product(home=home, **wait_for(lambda: _connection(home, up), 240, "manage.py up to be ready"))


def wait_for(found: Callable[[], T | None], timeout: float, what: str) -> T:
    """The first true answer of `found`, or TimeoutError that names `what`."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if answer := found():
            return answer
        time.sleep(0.1)
    raise TimeoutError(f"waited {timeout:.0f} s for {what}")


def _connection(home: Path, up: "subprocess.Popen[bytes]") -> dict[str, str] | None:
    if up.poll() is not None:
        raise RuntimeError(f"manage.py up ended with {up.returncode}:\n{(home / 'up.log').read_text()[-2000:]}")
    path = home / "connection.json"
    if not path.exists():
        return None
    connection: dict[str, str] = json.loads(path.read_text())
    try:
        healthy = httpx.get(f"{connection['url']}/healthz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return None
    return {key: connection[key] for key in ("url", "username", "password", "token")} if healthy else None


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])
