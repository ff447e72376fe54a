"""A real Celery worker and beat outlive restarts of their Redis: the next run is placed without anybody's help."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from django.conf import settings

from tests import builders
from tests.conftest import free_port, redis_server_binary
from tests.control.cluster import launch
from tests.waiting import until
from webapp.nodes.models import Node

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]
RESTARTS = 3


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
def own_redis(tmp_path):
    server = Restartable(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def worker(own_redis, tmp_path):
    database = settings.DATABASES["default"]
    url = os.environ.get("DATABASE_URL") or f"sqlite:///{database['NAME']}"
    if not database["ENGINE"].endswith("sqlite3"):
        url = url.rsplit("/", 1)[0] + f"/{database['NAME']}"
    env = os.environ | {
        "DATABASE_URL": url,
        "REDIS_URL": f"redis://127.0.0.1:{own_redis.port}/0",
        "PACELINE_HOME": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "webapp.settings",
    }
    log = (tmp_path / "worker.log").open("wb")
    command = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "webapp.celery",
        "worker",
        "--concurrency",
        "2",
        "--without-gossip",
    ]
    command += ["-B", "-s", str(tmp_path / "beat")]
    process = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=settings.BASE_DIR)
    yield process
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)
    log.close()


@pytest.mark.timeout(180)
def test_the_worker_places_the_next_run_after_each_restart_of_redis(own_redis, worker):
    builders.node(slots=20)
    for restarted in range(RESTARTS + 1):
        if restarted:
            own_redis.stop()
            own_redis.start()
        run = launch(nodes=1, ranks_per_node=1)

        def is_placed(run=run):
            # No agent reports here, so that the node's silence is not what this is about.
            Node.objects.update(last_heard=run.created_at.now(tz=run.created_at.tzinfo))
            return run.attempts.get().status == "starting" and run.attempts.get().commands.get().sent_at

        until(is_placed, timeout=45)
        assert worker.poll() is None
