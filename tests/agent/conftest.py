import contextlib
import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.agent.node import NODE, AgentProcess, Server, admit, processes_of


@pytest.fixture
def agent(tmp_path: Path, redis_client: redis.Redis, redis_server: str) -> Iterator[AgentProcess]:
    """A node that was admitted; not started yet."""
    home = tmp_path / "node"
    admit(redis_client, redis_server, home)
    process = AgentProcess(home)
    yield process
    if process.process is not None and process.process.poll() is None:
        process.end(signal.SIGKILL)


@pytest.fixture
def server(agent: AgentProcess, redis_client: redis.Redis) -> Iterator[Server]:
    """The other end, for one attempt; whatever that left alive is killed."""
    key = random.randrange(10**6, 10**9)
    yield Server(redis_client, key)
    with contextlib.suppress(OSError, ValueError, KeyError):
        shim = json.loads((agent.attempt(key) / "shim.json").read_text())["pid"]
        if b"shim.py" in Path(f"/proc/{shim}/cmdline").read_bytes():
            os.kill(shim, signal.SIGKILL)
    for pid in processes_of(NODE, key):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(f"/dev/shm/paceline/{NODE}-{key}", ignore_errors=True)
