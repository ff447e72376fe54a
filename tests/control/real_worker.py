"""A real Celery worker with its beat, on a Redis of its own that can be killed and started again."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings

from tests.conftest import free_port, redis_server_binary
from tests.server import REPO, database_url
from tests.waiting import until

COMMAND = ["-m", "celery", "-A", "webapp.celery", "worker", "--concurrency", "2", "--without-gossip", "-B"]


class Restartable:
    """A redis-server of this test's own that forgets everything when it is restarted."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.folder = folder
        self.start()

    def start(self) -> None:
        command = [redis_server_binary(), "--port", str(self.port), "--save", "", "--dir", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        client = redis.Redis(port=self.port)
        until(lambda: self._answers(client))
        client.close()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    @staticmethod
    def _answers(client: redis.Redis) -> bool:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[Restartable]:
    server = Restartable(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def worker(own_redis: Restartable, tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    env = os.environ | {
        "DATABASE_URL": database_url(),
        "REDIS_URL": f"redis://127.0.0.1:{own_redis.port}/0",
        "PACELINE_HOME": str(tmp_path),
        "SECRET_KEY": settings.SECRET_KEY,
        "DJANGO_SETTINGS_MODULE": "webapp.settings",
    }
    command = [sys.executable, *COMMAND, "-s", str(tmp_path / "beat")]
    with (tmp_path / "worker.log").open("wb") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=REPO)
    yield process
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)
