"""The product on the lab's bridge, an agent in each namespace. Nothing is left, not even of a lab that was killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.product import REPO, Product, free_port, start_up, wait_for, wait_until_ready
from tests.lab.commands import require
from tests.lab.network import Network
from tests.lab.owner import Owner, sweep
from webapp.supervisor.environment import Place, of_agent, of_server
from webapp.supervisor.home import Home

INTERFACE = {"GLOO_SOCKET_IFNAME": "eth0"}  # what ranks in the lab need in their environment
_JOINS_WITHIN_S = 240  # on a machine that does much else


class Lab:
    """Nodes `lab-0`, `lab-1`, … with `slots` each."""

    def __init__(self, owner: Owner, nodes: int, slots: int) -> None:
        self.network = Network(owner.prefix, nodes)
        self.home = owner.folder / "home"
        self.slots = slots
        self._agents: list[subprocess.Popen[bytes]] = []
        self._up: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Returns when every node has joined."""
        self.home.mkdir(mode=0o700)
        self.network.begin()
        port = free_port()
        self._up = start_up(self.home, port, nodes=0, slots=1, address=self.network.server)
        self.product: Product = wait_until_ready(self.home, self._up)
        place = Place(Home(self.home), self.network.server, port, 0, 0, 0)
        for node, token in enumerate(self._tokens(place)):
            self._agents.append(self._join(node, place, token))
        wait_for(self._all_joined, _JOINS_WITHIN_S, "the lab's nodes to join")

    def pid_of(self, rank: int) -> int:
        """Of a rank of the one run that goes on."""
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and self._is_rank(entry, rank):
                return int(entry.name)
        raise ProcessLookupError(f"no process of rank {rank}")

    def end(self) -> None:
        """In order, where that is possible; what is left then is the owner's to remove."""
        self.network.end()
        for part in [*self._agents, *([self._up] if self._up else [])]:
            part.send_signal(signal.SIGTERM)
        for part in [*self._agents, *([self._up] if self._up else [])]:
            try:
                part.wait(15)
            except subprocess.TimeoutExpired:
                part.kill()
                part.wait()

    def _tokens(self, place: Place) -> list[str]:
        command = [sys.executable, "manage.py", "join_token", "--count", str(self.network.nodes)]
        env = of_server(place, "join_token")
        return subprocess.run(command, cwd=REPO, env=env, capture_output=True, text=True, check=True).stdout.split()

    def _join(self, node: int, place: Place, token: str) -> "subprocess.Popen[bytes]":
        name = f"lab-{node}"
        command = ["ip", "netns", "exec", self.network.space(node), sys.executable, "-m", "trainer_agent.cli", "join"]
        command += [place.url, "--name", name, "--slots", str(self.slots), "--home", str(place.home.node(name))]
        env = {**of_agent(place, name), "PACELINE_JOIN_TOKEN": token}
        with (self.home / "logs" / f"{name}.log").open("ab") as log:
            return subprocess.Popen(command, cwd=REPO, env=env, stdout=log, stderr=log)

    def _all_joined(self) -> bool:
        return len(self.product.api("GET", "nodes")) == self.network.nodes

    def _is_rank(self, entry: Path, rank: int) -> bool:
        """The process that trains: the child of the one that keeps its log."""
        try:
            env = (entry / "environ").read_bytes().split(b"\0")
            parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
            keepers = [_keeps_log(entry), _keeps_log(Path(f"/proc/{parent}"))]
        except OSError:
            return False
        ours = any(one.startswith(b"PACELINE_RANK_DIR=" + os.fsencode(self.home)) for one in env)
        return ours and b"RANK=%d" % rank in env and keepers == [False, True]


def _keeps_log(entry: Path) -> bool:
    """The launcher has the name in its arguments, too."""
    return any(one.endswith(b"/rank_entry.py") for one in (entry / "cmdline").read_bytes().split(b"\0"))


@contextmanager
def lab(*, nodes: int = 4, slots: int = 2) -> Iterator[Lab]:
    """A lab, ready. LabError where there can be none."""
    require()
    sweep()
    owner = Owner()
    try:
        made = Lab(owner, nodes, slots)
        try:
            made.begin()
            yield made
        finally:
            made.end()
    finally:
        owner.end()
