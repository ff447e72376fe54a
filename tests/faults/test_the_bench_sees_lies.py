"""The bench's own judgement: what it must call a lie, and that the seed alone decides what is thrown."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults.books import Book, read_books
from benchmarks.faults.runs import Planned
from benchmarks.faults.schedule import LASTING, ONCE, blows
from benchmarks.faults.verdict import lies

SUCCEEDED = {"outcome": "succeeded", "cause": "", "reason": "", "sentence": "Finished."}
FAILED = {
    "outcome": "failed",
    "cause": "code",
    "reason": "rank_exit",
    "sentence": "Rank 1 on a ended with exit code 3.",
}
STOPPED = {"outcome": "stopped", "cause": "user", "reason": "user_stop", "sentence": "Stopped by ana."}


def judged(ending: str, run: dict[str, Any], *codes: int | None) -> list[str]:
    planned = Planned("n", ending, steps=100, rank=1, trouble_step=50, stop_after=0, uid="r-a")
    books = [Book("r-a", 1, rank, code=code) for rank, code in enumerate(codes)]
    told = {"attempt": 1, "world_size": 2, "ended_at": "now", **run}
    return list(lies(planned, told, books))


@pytest.mark.parametrize(
    ("ending", "run", "codes"),
    [("ends", SUCCEEDED, (0, 0)), ("exit", FAILED, (1, 3)), ("stop", STOPPED, (0, None)), ("stop", SUCCEEDED, (0, 0))],
)
def test_what_is_true_is_no_lie(ending: str, run: dict[str, Any], codes: tuple[int | None, ...]):
    assert judged(ending, run, *codes) == []


@pytest.mark.parametrize(
    ("ending", "run", "codes"),
    [
        ("ends", SUCCEEDED, (0, None)),
        ("ends", SUCCEEDED, (0,)),
        ("ends", FAILED, (0, 0)),
        ("ends", STOPPED, (0, 0)),
        ("exit", {**FAILED, "sentence": "Rank 0 on a ended with exit code 1."}, (1, 3)),
        ("exit", {**FAILED, "cause": "node"}, (1, 3)),
        ("stop", {**STOPPED, "cause": "limit"}, (0, 0)),
        ("retry", SUCCEEDED, (0, 0)),
        ("ends", {**SUCCEEDED, "ended_at": None}, (0, 0)),
    ],
)
def test_what_is_not_true_is_named(ending: str, run: dict[str, Any], codes: tuple[int | None, ...]):
    assert judged(ending, run, *codes)


def test_a_step_that_was_killed_before_its_note_is_neither_done_nor_forgotten(tmp_path: Path):
    (tmp_path / "r-a.2.rank3").write_text("i 0\ns 0 3.125\ni 1\n")
    (book,) = read_books(tmp_path)
    assert (book.run, book.attempt, book.rank) == ("r-a", 2, 3)
    assert (book.values, book.unsure, book.code) == ({0: 3.125}, 1, None)
    assert book.lines == ["step 0 of rank 3 is 3.125"]


def test_the_seed_decides_and_every_kind_comes_before_any_comes_again():
    first = list(islice(blows(5, 60, small_disks=True), 20))
    assert first == list(islice(blows(5, 60, small_disks=True), 20))
    kinds = [blow.kind for together in first for blow in together]
    assert set(kinds[: len(ONCE) + len(LASTING)]) == {*ONCE, *LASTING}
