"""Real launches by torchrun, watched by a real server that has no nodes of its own."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.product import Product, product, wait_for
from tests.attach import front
from tests.conftest import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.torch, pytest.mark.timeout(300)]
TORCHRUN = (sys.executable, "-m", "torch.distributed.run")
SCRIPT = "examples/tiny_gpt.py"
FAILS = """
import os, sys, time, torch.distributed
if os.environ["RANK"] == "1":
    raise ValueError("the reactor is cold")
time.sleep(60)
"""


@pytest.fixture(scope="module")
def made() -> Iterator[Product]:
    with product(nodes=0) as running:
        yield running


@pytest.fixture
def env(made: Product, tmp_path: Path) -> dict[str, str]:
    return front.environment(tmp_path, made.url, made.token)


def newest(made: Product) -> dict[str, Any]:
    found: list[dict[str, Any]] = made.api("GET", "runs")
    return found[0] if found else {}


def steps_stored(made: Product, run: dict[str, Any]) -> dict[str, int]:
    found = made.api("GET", f"runs/{run['id']}/metrics", params={"name": "phase/step"})
    return {rank: len(points) for rank, points in found["ranks"].items()}


def test_a_launch_is_one_run_with_all_its_ranks_steps_and_output(made, env):
    done = front.run(env, *TORCHRUN, "--nproc-per-node", "2", SCRIPT, "--steps", "20", options=("--name", "mine"))

    assert done.returncode == 0
    assert done.stdout.count("loss=") == 40
    (run,) = made.api("GET", "runs")
    assert run["url"] in done.stderr
    assert (run["name"], run["outcome"], run["world_size"], run["steps"]) == ("mine", "succeeded", 2, 20)
    assert steps_stored(made, run) == {"0": 20, "1": 20}
    assert made.paceline("logs", run["id"], "--rank", "-1").count("loss=") == 40
    ledger = made.api("GET", f"runs/{run['id']}/ledger")["ranks"]
    assert [(rank["made"], rank["dropped"]) for rank in ledger.values()] == [(20, 0), (20, 0)]
    assert made.api("GET", "nodes") == []


def test_two_nodes_of_one_job_are_one_run_with_two_nodes(made, env):
    port = free_port()
    launches = []
    for rank in (0, 1):
        shape = ("--nnodes=2", "--nproc-per-node=1", f"--node-rank={rank}")
        where = ("--master-addr=127.0.0.1", f"--master-port={port}")
        command = (*TORCHRUN, *shape, *where, SCRIPT, "--steps", "20")
        launches.append(front.start(env, *command, options=("--job", "pair")))
    for launch in launches:
        launch.communicate(timeout=120)

    assert [launch.returncode for launch in launches] == [0, 0]
    run = newest(made)
    assert (run["outcome"], run["nodes"], run["world_size"], len(run["node_names"])) == ("succeeded", 2, 2, 2)
    assert steps_stored(made, run) == {"0": 20, "1": 20}
    assert len(made.api("GET", "runs", params={"q": "tiny_gpt"})) == 1


def test_a_failing_script_keeps_its_exit_code_and_names_its_rank(made, env, tmp_path):
    (tmp_path / "fails.py").write_text(FAILS)
    command = (*TORCHRUN, "--nproc-per-node=2", str(tmp_path / "fails.py"))

    first, second = (front.run(env, *command, options=("--job", "again")) for _ in range(2))

    assert (first.returncode, second.returncode) == (1, 1)
    run = newest(made)
    assert (run["name"], run["attempt"], run["outcome"], run["cause"]) == ("fails", 2, "failed", "code")
    assert run["sentence"].startswith("Rank 1 on ")
    assert run["sentence"].endswith("ended with exit code 1. ValueError: the reactor is cold")


def test_a_person_stops_it_from_the_server(made, env):
    command = (*TORCHRUN, "--nproc-per-node=2", SCRIPT, "--steps", "100000", "--step-ms", "50")
    launch = front.start(env, *command, options=("--name", "endless"))
    run = wait_for(lambda: with_steps(newest(made), "endless"), 120, "its first steps")

    made.paceline("stop", run["id"])
    launch.communicate(timeout=60)

    assert launch.returncode != 0
    run = newest(made)
    assert (run["status"], run["outcome"], run["cause"]) == ("ended", "stopped", "user")
    assert processes_of(launch.pid) == []


def test_a_deleted_run_lets_its_launch_go_on(made, env):
    command = (*TORCHRUN, "--nproc-per-node=1", SCRIPT, "--steps", "150", "--step-ms", "50")
    launch = front.start(env, *command, options=("--name", "unwanted"))
    run = wait_for(lambda: with_steps(newest(made), "unwanted"), 120, "its first steps")

    headers = {"Authorization": f"Bearer {made.token}"}
    httpx.delete(f"{made.url}/api/v1/runs/{run['id']}", headers=headers).raise_for_status()
    printed, _said = launch.communicate(timeout=120)

    assert launch.returncode == 0
    assert "step=149" in printed
    assert newest(made)["id"] != run["id"]


def with_steps(run: dict[str, Any], name: str) -> dict[str, Any]:
    """The run once it has the name and trains, else nothing."""
    return run if run.get("name") == name and run["status"] == "running" and run["steps"] > 3 else {}


def processes_of(session: int) -> list[int]:
    """Processes of the session that a launch began."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                found.append(int(path.parent.name))
    return found
