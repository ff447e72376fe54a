"""The product under attack: where it lives, its processes, and how all of it is cleaned away."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from benchmarks.product import Product, free_port, start_up, wait_until_ready
from webapp.supervisor.home import Home
from webapp.supervisor.leftovers import kill_all_of

NODES, SLOTS = 2, 2
DISK_MB = 48  # of each node's own small disk
PARTS = ("redis", "web", "worker", "beat", "ingest")


class Attacked:
    """One product with two nodes of two slots, each node on a small disk of its own where that can be made."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.books = root / "books"
        self.agents = [f"local-{number}" for number in range(1, NODES + 1)]
        self.disks = [self.home / "nodes" / name for name in self.agents]
        self.has_small_disks = os.geteuid() == 0 and sys.platform == "linux"  # only root may mount
        self.up: subprocess.Popen[bytes] | None = None
        self._port = free_port()

    def begin(self) -> None:
        """Make the disks, start for the first time."""
        self.books.mkdir()
        for disk in self.disks:
            disk.mkdir(parents=True, mode=0o700)
            if self.has_small_disks:
                options = f"size={DISK_MB}m,mode=700"
                subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], check=True)
        self.start()

    def start(self) -> None:
        """`manage.py up`, also on a home whose last one was killed. Returns when all parts are ready."""
        (self.home / "connection.json").unlink(missing_ok=True)
        self.up = start_up(self.home, self._port, nodes=NODES, slots=SLOTS)
        self.product: Product = wait_until_ready(self.home, self.up)

    def pid_of(self, part: str) -> int:
        """Process id of a part as it runs now, 0 for none."""
        try:
            return int((self.home / "run" / f"{part}.pid").read_text().split()[0])
        except (OSError, IndexError, ValueError):
            return 0

    def redis(self) -> redis.Redis:
        """A connection with the server's login."""
        return redis.Redis.from_url((self.home / "redis" / "url").read_text(), socket_timeout=5)

    def redis_port(self) -> int:
        """Where it listens."""
        return int(self.redis().connection_pool.connection_kwargs["port"])

    def end(self) -> None:
        """Nothing of it is left: no process, no mount."""
        for part in (*PARTS, *self.agents):
            send(self.pid_of(part), signal.SIGCONT)
        if self.up is not None:
            self.up.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.up.wait(20)
            self.up.kill()
            self.up.wait()
        kill_all_of(Home(self.home), 5)
        for disk in self.disks:
            if disk.is_mount():
                subprocess.run(["umount", "--lazy", str(disk)], check=True)


@contextmanager
def attacked() -> Iterator[Attacked]:
    """The product in a temporary folder, ready."""
    with tempfile.TemporaryDirectory(prefix="paceline-faults-") as folder:
        made = Attacked(Path(folder))
        try:
            made.begin()
            yield made
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # cleaning up is not cut short by a second Ctrl-C
            made.end()


def alive(pid: int) -> bool:
    """Whether there is such a process, zombies not counted."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def send(pid: int, number: signal.Signals) -> None:
    """A signal, if there is such a process."""
    if pid > 0:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
