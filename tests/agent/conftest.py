import contextlib
import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.agent.node import NODE, AgentProcess, Server, admit, processes_of
from tests.agent.shims import Start, run


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


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a shim, returns its shim.json."""

    def begin(*argv: str, **plan: Any) -> dict[str, Any]:
        mark = f"n-shim/{tmp_path.name}"
        defaults = {"argv": argv, "cwd": str(tmp_path), "mark": mark, "signal": "SIGTERM", "grace": 0.2}
        env = {**os.environ, "PACELINE_MARK": mark}
        (tmp_path / "plan.json").write_text(json.dumps({**defaults, "env": env, "timeout": None, **plan}))
        assert run(tmp_path) == 0
        found: dict[str, Any] = json.loads((tmp_path / "shim.json").read_text())
        return found

    yield begin
    if not (tmp_path / "exit.json").exists():
        os.kill(json.loads((tmp_path / "shim.json").read_text())["pid"], signal.SIGKILL)
        run(tmp_path, "clean")
