"""An older agent serves the present server, and makes room for its successor in the middle of a run."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults.account import account
from benchmarks.faults.books import Book, read_books
from benchmarks.faults.runs import SCRIPT
from benchmarks.product import Product, product, wait_for
from tests.upgrade.older import Agent
from trainer_agent import __version__

pytestmark = [pytest.mark.e2e, pytest.mark.torch, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def made() -> Iterator[Product]:
    with product(nodes=0) as running:
        yield running


@pytest.fixture(scope="module")
def agent(made: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    joined = Agent(tmp_path_factory.mktemp("upgrade"), made)
    joined.join_with_the_old_one()
    wait_for(lambda: [node["alive"] for node in made.api("GET", "nodes")] == [True], 60, "the node to join")
    yield joined
    joined.end(signal.SIGKILL)


@pytest.fixture
def books(tmp_path: Path) -> Path:
    return tmp_path


def start(made: Product, books: Path, steps: int, ranks: int) -> str:
    argv = [str(SCRIPT), "--book", str(books), "--steps", str(steps)]
    asked = {"project": "demo", "name": "try", "argv": argv, "nodes": 1, "ranks_per_node": ranks, "grace": 20}
    return str(made.api("POST", "runs", json={**asked, "env": {"OMP_NUM_THREADS": "1"}})["id"])


def ended(made: Product, run: str) -> dict[str, Any]:
    def found() -> dict[str, Any] | None:
        shown: dict[str, Any] = made.api("GET", f"runs/{run}")
        return shown if shown["status"] == "ended" else None

    return wait_for(found, 150, f"the end of {run}")


def steps_of(books: Path, *runs: str) -> int:
    """What the one that is least far has done."""
    written = [len(book.values) for run in runs for book in read_books(books, run)]
    return min(written, default=0) if len(written) >= len(runs) else 0


def codes(books: list[Book]) -> list[int | None]:
    return [book.code for book in books]


def assert_all_is_stored_once(made: Product, books: Path) -> None:
    def all_there() -> bool:
        return account(made, read_books(books)).holds

    wait_for(all_there, 30, f"all that was made: {account(made, read_books(books)).notes}")


def test_a_run_of_the_old_agent_succeeds_with_all_its_steps_and_lines(made, agent, books):
    run = start(made, books, steps=120, ranks=2)
    assert ended(made, run)["outcome"] == "succeeded"
    (node,) = made.api("GET", "nodes")
    assert (node["name"], node["agent_version"]) == ("old", "0.1.0")
    assert codes(read_books(books)) == [0, 0]
    assert_all_is_stored_once(made, books)


def test_the_old_agent_stops_what_a_user_stops(made, agent, books):
    run = start(made, books, steps=100_000, ranks=2)
    wait_for(lambda: steps_of(books, run) > 20, 150, "twenty steps")
    made.api("POST", f"runs/{run}/stop")
    shown = ended(made, run)
    assert (shown["outcome"], shown["cause"]) == ("stopped", "user")
    assert_all_is_stored_once(made, books)


def test_its_successor_takes_up_what_runs_and_finds_what_ended_meanwhile(made, agent, books):
    short, long = start(made, books, steps=200, ranks=1), start(made, books, steps=900, ranks=1)
    wait_for(lambda: steps_of(books, short, long) > 30, 150, "thirty steps of both runs")
    agent.end(signal.SIGKILL)
    wait_for(lambda: codes(read_books(books, short)) == [0], 60, "the end of the short run")
    assert codes(read_books(books, long)) == [None]
    agent.start_the_new_one()
    for run in (short, long):
        shown = ended(made, run)
        assert (shown["outcome"], shown["attempt"]) == ("succeeded", 1), shown["sentence"]
    assert_all_is_stored_once(made, books)
    assert [node["agent_version"] for node in made.api("GET", "nodes")] == [__version__]
    assert __version__ != "0.1.0"
