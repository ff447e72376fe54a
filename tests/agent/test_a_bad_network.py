"""A network that loses what is on its way, and an agent that is killed: every batch arrives, once and in order."""

import contextlib
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.agent.node import REPO
from tests.waiting import until
from trainer_agent.agent.spool import Spool
from trainer_agent.wire import names

BATCHES = 600
LOST = 15  # every so many pieces one is lost
AGENT = """
import sys, threading
from pathlib import Path
from trainer_agent.agent.sender import Sender
from trainer_agent.agent.spool import Spool
spool = Spool(Path(sys.argv[1]))
Sender(sys.argv[2], "n", lambda: {7: spool}).run(threading.Event())
"""


class LossyWay:
    """Passes bytes on; now and then a piece is lost, and as after a reset nothing of that connection comes any more."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.pieces = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def end(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self._target)) as far, contextlib.suppress(OSError):
            while True:
                for source in select.select([near, far], [], [])[0]:
                    data = source.recv(65536)
                    self.pieces += 1
                    lost = self.pieces % LOST == 0
                    (far if source is near else near).sendall(data[: len(data) // 2] if lost else data)
                    if lost or not data:
                        return


@pytest.fixture
def way(redis_server: str) -> Iterator[LossyWay]:
    made = LossyWay(int(redis_server.rpartition(":")[2].split("/")[0]))
    yield made
    made.end()


class Reader:
    """As ingest: applies what follows, acknowledges, takes off the stream."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self.applied: list[int] = []

    def read(self) -> bool:
        stream = names.telemetry(7, "n")
        entries: Any = self._client.xrange(stream)
        for entry_id, fields in entries:
            if int(fields[b"b"]) == len(self.applied) + 1:
                self.applied.append(int(fields[b"b"]))
            self._client.xdel(stream, entry_id)
        self._client.hset(names.acks("n"), "7", str(len(self.applied)))
        return len(self.applied) >= self.wanted

    wanted = BATCHES


def test_every_batch_arrives_once_and_in_order(tmp_path: Path, redis_client: redis.Redis, way: LossyWay):
    spool = Spool(tmp_path / "spool")
    for seq in range(1, BATCHES + 1):
        spool.append(seq, b"%d" % seq, {})
    spool.close()
    reader = Reader(redis_client)
    for life in (1, 2, 3):
        command = [sys.executable, "-c", AGENT, str(tmp_path / "spool"), f"redis://127.0.0.1:{way.port}"]
        with subprocess.Popen(command, cwd=REPO, stderr=subprocess.DEVNULL) as agent:
            reader.wanted = BATCHES * life // 3
            try:
                until(reader.read, 60)
            finally:
                agent.kill()
    assert reader.applied == list(range(1, BATCHES + 1))
    assert way.pieces > 2 * LOST
