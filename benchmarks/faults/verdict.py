"""Whether the state in which a run ended is true: its books on one side, what the API says on the other. Pure."""

import re
from collections.abc import Iterator
from typing import Any

from benchmarks.faults.books import Book
from benchmarks.faults.runs import Planned


def lies(planned: Planned, run: dict[str, Any], books: list[Book]) -> Iterator[str]:
    """A sentence for everything that is wrong about an ended run."""
    codes = [book.code for book in books if book.attempt == run["attempt"]]
    all_well = len(codes) == run["world_size"] and set(codes) == {0}
    outcome = run["outcome"]
    if outcome == "succeeded" and not all_well:
        yield f"{planned.uid} succeeded, but its ranks ended with {codes}"
    if outcome in ("failed", "lost") and all_well:
        yield f"{planned.uid} {outcome} ({run['reason']}), but every rank ended with 0"
    if run["ended_at"] is None:
        yield f"{planned.uid} has ended without a time"
    if _found_no_disk(run) and not codes:
        return
    yield from _against_the_plan(planned, run)
    first = {book.rank: book.code for book in books if book.attempt == 1}
    if planned.ending == "retry" and first and first.get(planned.rank) != 3:
        yield f"{planned.uid} was to fail in rank {planned.rank}, but the first attempt's ranks ended with {first}"


def _found_no_disk(run: dict[str, Any]) -> bool:
    """A node whose disk is full starts nothing, and says why."""
    return run["outcome"] == "failed" and run["cause"] == "node" and "No space" in run["sentence"]


def _against_the_plan(planned: Planned, run: dict[str, Any]) -> Iterator[str]:
    """Faults of the product change nothing about how a run ends."""
    is_told = f"{run['outcome']} {run['cause']} {run['reason']} in attempt {run['attempt']}: {run['sentence']}"
    outcomes = {"ends": {"succeeded"}, "retry": {"succeeded"}, "stop": {"stopped", "succeeded"}}
    if run["outcome"] not in outcomes.get(planned.ending, {"failed"}):
        yield f"{planned.uid} was to end as “{planned.ending}” but is {is_told}"
    elif planned.ending == "retry" and run["attempt"] != 2:
        yield f"{planned.uid} was to be tried again once, but is {is_told}"
    elif planned.ending == "stop" and run["outcome"] == "stopped" and run["cause"] != "user":
        yield f"{planned.uid} was stopped by a user, but is {is_told}"
    elif planned.ending in ("exit", "kill") and not _names(planned.rank, run):
        yield f"{planned.uid} failed in rank {planned.rank}, but is {is_told}"


def _names(rank: int, run: dict[str, Any]) -> bool:
    return run["cause"] == "code" and bool(re.search(rf"\brank {rank}\b", run["sentence"], re.IGNORECASE))
