"""`manage.py up`: one command starts everything, keeps it running, and stops all of it."""

import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.conftest import free_port
from tests.ops.running import REPO, Up, alive_in, command, environment
from tests.waiting import until

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    running = Up(tmp_path_factory.mktemp("up") / "home", free_port(), nodes=1)
    running.wait_until_ready()
    yield running
    running.end()


def second(home: Path, port: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(home, port), cwd=REPO, env=environment(), capture_output=True, text=True, timeout=30, check=False
    )


def test_it_tells_where_it_is_and_keeps_the_login_private(up: Up):
    connection = json.loads((up.home / "connection.json").read_text())

    assert set(connection) >= {"url", "username", "password", "token"}
    assert connection["url"] == up.url
    assert up.url in up.said()
    assert connection["password"] in up.said()
    for name in ("connection.json", "secret_key", "login.json", "redis/redis.conf", "redis/url", "redis/password"):
        assert stat.S_IMODE((up.home / name).stat().st_mode) == 0o600, name


def test_every_part_is_ready_when_it_says_so(up: Up):
    health = httpx.get(f"{up.url}/healthz")

    assert health.status_code == 200
    assert health.json()["status"] == "ok"
    assert set(health.json()["parts"]) >= {"database", "redis", "worker", "beat", "ingest", "nodes"}


def test_the_token_opens_the_api(up: Up):
    token = json.loads((up.home / "connection.json").read_text())["token"]

    answer = httpx.get(f"{up.url}/api/v1/projects", headers={"Authorization": f"Bearer {token}"})

    assert answer.status_code == 200
    assert [project["slug"] for project in answer.json()] == ["demo"]


def test_no_secret_stands_on_a_command_line_or_in_an_environment(up: Up):
    secrets = [(up.home / name).read_text() for name in ("secret_key", "redis/password")]

    for part in ("redis", "web", "worker", "beat", "ingest", "local-1"):
        for kind in ("cmdline", "environ"):
            shown = Path(f"/proc/{up.pid_of(part)}/{kind}").read_text()
            assert not any(secret in shown for secret in secrets), part


@pytest.mark.parametrize("part", ["worker", "beat", "ingest", "web", "redis", "local-1"])
def test_a_part_that_is_killed_is_started_again_and_said_so(up: Up, part: str):
    until(up.is_ready, 30)
    before = up.pid_of(part)

    os.kill(before, signal.SIGKILL)

    until(lambda: up.pid_of(part) not in (0, before), 10)
    until(up.is_ready, 40)
    assert f"{part} was ended by SIGKILL; it is started again" in up.said()


def test_a_second_one_on_the_same_folder_is_told_who_holds_it(up: Up):
    answer = second(up.home, free_port())

    assert answer.returncode == 2
    assert f"in use by process {up.process.pid}" in answer.stderr


def test_a_taken_port_is_named(up: Up, tmp_path: Path):
    port = int(up.url.rsplit(":", 1)[1])

    answer = second(tmp_path / "other", port)

    assert answer.returncode == 2
    assert f"Port {port} on 127.0.0.1 is taken" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_it_stops_within_ten_seconds_leaves_nothing_and_starts_again_as_it_was(tmp_path: Path):
    port = free_port()
    first = Up(tmp_path / "home", port, nodes=1)
    known = first.wait_until_ready()
    assert first.stop(signal.SIGINT) == 0, first.said()
    assert alive_in(first.home) == []

    again = Up(tmp_path / "home", port, nodes=1)
    try:
        assert again.wait_until_ready() == known
        answer = httpx.get(f"{again.url}/api/v1/nodes", headers={"Authorization": f"Bearer {known['token']}"})
        assert [node["name"] for node in answer.json()] == ["local-1"]
    finally:
        again.end()
    assert alive_in(again.home) == []


def test_what_a_killed_one_left_behind_does_not_hinder_the_next(tmp_path: Path):
    port = free_port()
    killed = Up(tmp_path / "home", port)
    until(lambda: "started web" in killed.said(), 60)
    left_behind = [killed.pid_of(part) for part in ("redis", "web", "worker", "beat", "ingest")]
    killed.process.kill()
    killed.process.wait()
    assert all(psutil.pid_exists(pid) for pid in left_behind)

    again = Up(tmp_path / "home", port)
    try:
        until(lambda: "started web" in again.said(), 60)
        assert not any(psutil.pid_exists(pid) for pid in left_behind)
    finally:
        again.end()
    assert alive_in(again.home) == []
