"""docker-compose.yml holds together, and each service's exact command becomes ready outside a container."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.conftest import free_port
from tests.ops.compose_file import REPO, document, services, variables_of_the_file
from tests.ops.running import environment, is_ready
from tests.postgres import postgres
from tests.waiting import until

SECRETS = {"SECRET_KEY": "k" * 50, "POSTGRES_PASSWORD": "postgres-password", "REDIS_PASSWORD": "redis-password"}


def test_every_variable_stands_in_the_example():
    example = (REPO / ".env.example").read_text()

    assert variables_of_the_file() == {line.split("=")[0] for line in example.splitlines() if "=" in line[:30]}


def test_the_secrets_have_no_default():
    for name in SECRETS:
        with pytest.raises(AssertionError, match=name):
            services({key: value for key, value in SECRETS.items() if key != name})


def test_every_volume_and_every_service_that_is_waited_for_exists():
    found, volumes = services(SECRETS), document()["volumes"]

    assert set(found) >= {"postgres", "redis", "web", "worker", "beat", "ingest", "agent-1", "agent-2"}
    for name, service in found.items():
        assert set(service.get("depends_on", {})) <= set(found), name
        assert {mount.split(":")[0] for mount in service.get("volumes", [])} <= set(volumes), name
        assert ("agents" in service.get("profiles", [])) == name.startswith("agent-"), name


def test_every_image_of_ours_is_a_target_of_the_dockerfile_and_runs_as_nobody_special():
    stages = (REPO / "Dockerfile").read_text().split("FROM ")[1:]
    targets = {stage.split(" AS ")[1].split()[0]: stage for stage in stages}

    built = {service["build"]["target"] for service in services(SECRETS).values() if "build" in service}
    assert built == set(targets)
    assert all("\nUSER paceline\n" in stage for stage in targets.values())
    assert all((REPO / source).exists() for stage in targets.values() for source in copied(stage))


def copied(stage: str) -> list[str]:
    return [source for line in stage.splitlines() if line.startswith("COPY ") for source in line.split()[1:-1]]


@pytest.mark.e2e
@pytest.mark.postgres
def test_each_services_exact_command_becomes_ready(tmp_path: Path):
    port, redis_port = free_port(), free_port()
    (tmp_path / "server").mkdir()
    with ExitStack() as stack:
        place = {
            "redis:6379": f"127.0.0.1:{redis_port}",
            "paceline:postgres-password@postgres:5432/paceline": stack.enter_context(postgres()).split("//")[1],
            "web:8000": f"127.0.0.1:{port}",
            "/data": str(tmp_path / "agent"),
        }
        found = services(SECRETS)
        found["redis"]["environment"] |= {"REDIS_DIR": str(tmp_path), "REDIS_PORT": str(redis_port)}
        found["web"]["command"][found["web"]["command"].index("8000")] = str(port)

        def start(name: str, **more: str) -> None:
            stack.enter_context(running(name, found[name], place, tmp_path, more))

        start("redis")
        client = redis.Redis(port=redis_port, password=SECRETS["REDIS_PASSWORD"])
        stack.callback(client.close)
        until(lambda: answers(client), 20)
        run_to_its_end(found["migrate"], place, tmp_path)
        for name in ("web", "worker", "beat", "ingest"):
            start(name)
        until(lambda: is_ready(f"http://127.0.0.1:{port}"), 60)
        for name in ("agent-1", "agent-2"):
            token = run_to_its_end({**found["web"], "command": ["python", "manage.py", "join_token"]}, place, tmp_path)
            start(name, PACELINE_JOIN_TOKEN=token.strip())
        until(lambda: len(list(client.scan_iter("pl:hb:*"))) == 2, 30)


@contextmanager
def running(
    name: str, service: dict[str, Any], place: dict[str, str], home: Path, more: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    command = [put(word, place | {"/data": str(home / name)}) for word in service["command"]]
    with (home / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [shutil.which(command[0], path=path()) or command[0], *command[1:]],
            env={**child_environment(service, place, home), **more},
            cwd=REPO,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def run_to_its_end(service: dict[str, Any], place: dict[str, str], home: Path) -> str:
    done = subprocess.run(
        [shutil.which(service["command"][0], path=path()) or "", *service["command"][1:]],
        env=child_environment(service, place, home),
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def child_environment(service: dict[str, Any], place: dict[str, str], home: Path) -> dict[str, str]:
    """What the Dockerfile and the service set, with the addresses of this test."""
    ours = {key: put(value, place) for key, value in service.get("environment", {}).items()}
    return {**environment(), "PATH": path(), "PACELINE_HOME": str(home / "server"), **ours}


def path() -> str:
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def put(word: str, place: dict[str, str]) -> str:
    for name, value in place.items():
        word = word.replace(name, value)
    return word


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
