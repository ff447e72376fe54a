"""A real agent process against a real Redis, and the server's side of the wire in a few lines."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import redis

from tests.conftest import free_port
from tests.waiting import until
from trainer_agent.agent import identity
from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import Batch, Command, Event, ForgetAttempt, StartAttempt, StopAttempt

THEATRE = Path(__file__).resolve().parent.parent / "theatre"
REPO = THEATRE.parent.parent
NODE = "n-test"
_ids = count(1)


def admit(client: redis.Redis, url: str, home: Path, node: str = NODE) -> None:
    """A node with a Redis user of its own, as the server makes it."""
    client.execute_command("ACL", "SETUSER", node, *names.agent_acl(node, redis7=True), ">secret")
    own_url = url.replace("redis://", f"redis://{node}:secret@")
    identity.save(
        home,
        identity.Identity(
            node=node,
            name=node,
            token="t",
            redis_url=own_url,
            url="http://127.0.0.1:1",
            cpu_slots=2,
            python=sys.executable,
        ),
    )


class AgentProcess:
    """`python -m trainer_agent.agent` in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self.home / "agent.log").open("ab")
        env = {**os.environ, "PACELINE_TOKEN": "nothing for ranks", "SECRET_KEY": "nothing for ranks"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trainer_agent.agent", "--home", str(self.home)],
            cwd=REPO,
            env=env,
            stdout=log,
            stderr=log,
        )
        log.close()

    def end(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(15)
            self.process = None

    def attempt(self, key: int) -> Path:
        return self.home / "attempts" / str(key)


class Server:
    """Sends commands; reads batches in order, exactly once, and acknowledges."""

    def __init__(self, client: redis.Redis, attempt: int, node: str = NODE) -> None:
        self.client = client
        self.attempt = attempt
        self.node = node
        self.batches: list[Batch] = []
        self.received: list[int] = []
        self._last = b""

    def start(self, script: str, *arguments: str, **fields: Any) -> StartAttempt:
        defaults: dict[str, Any] = {
            "v": 1,
            "id": next(_ids),
            "attempt": self.attempt,
            "run": f"r-{self.attempt}",
            "attempt_number": 1,
            "node_rank": 0,
            "nnodes": 1,
            "ranks_per_node": 2,
            "master_addr": "127.0.0.1",
            "master_port": free_port(),
            "argv": [script if "/" in script else str(THEATRE / script), *arguments],
            "grace": 5.0,
        }
        command = StartAttempt(**{**defaults, **fields})
        self.send(command)
        return command

    def stop(self, grace: float, signal_name: str = "SIGTERM") -> None:
        self.send(StopAttempt(v=1, id=next(_ids), attempt=self.attempt, signal=signal_name, grace=grace, reason="user"))

    def forget(self) -> None:
        self.send(ForgetAttempt(v=1, id=next(_ids), attempt=self.attempt))

    def send(self, command: Command) -> None:
        self.client.xadd(names.commands(self.node), {names.FIELD: codec.encode(command)})

    def read(self) -> None:
        stream = names.telemetry(self.attempt, self.node)
        entries: Any = self.client.xrange(stream, f"({self._last.decode()}" if self._last else "-")
        for entry_id, fields in entries:
            self._last = entry_id
            batch = codec.decode_batch(fields[names.FIELD.encode()])
            self.received.append(batch.seq)
            if batch.seq == len(self.batches) + 1:
                self.batches.append(batch)
        if self.batches:
            self.client.hset(names.acks(self.node), str(self.attempt), str(len(self.batches)))

    @property
    def events(self) -> list[Event]:
        return [event for batch in self.batches for event in batch.events]

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def event(self, kind: str, rank: int | None = None) -> Event:
        return next(e for e in self.events if e.kind == kind and (rank is None or e.rank == rank))

    def log(self, rank: int) -> bytes:
        """The rank's bytes, each at the offset that the agent gave."""
        whole = bytearray()
        for batch in self.batches:
            for part in batch.logs:
                if part.rank == rank:
                    assert part.offset == len(whole), "a log has a gap or a double"
                    whole += part.data
        return bytes(whole)

    def wait_for(self, condition: Callable[[], Any], timeout: float = 60.0) -> Any:
        def look() -> Any:
            self.read()
            return condition()

        return until(look, timeout)

    def wait_for_event(self, kind: str, rank: int | None = None, timeout: float = 60.0) -> Event:
        self.wait_for(lambda: any(e.kind == kind and (rank is None or e.rank == rank) for e in self.events), timeout)
        return self.event(kind, rank)


def processes_of(node: str, attempt: int) -> list[int]:
    """Living processes that carry the attempt's mark."""
    mark = f"PACELINE_MARK={node}/{attempt}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0") and is_alive(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
