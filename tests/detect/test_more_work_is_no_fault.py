import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.detect.made import USUAL, table
from workers.detect.judge import judge
from workers.detect.work_size import for_equal_work

STEPS = 120
COMPUTE = ("forward", "backward")


def made(work: np.ndarray, *, late: int | None = None, more: float = 0.0, seed: int = 0):
    """Forward and backward take time in proportion to the work; one rank may need more for the same."""

    def change(parts) -> None:
        for part in COMPUTE:
            parts[part] *= work / work.mean()
        if late is not None:
            parts["backward"][60:, late] += more

    return table(ranks=work.shape[1], steps=STEPS, seed=seed, change=change)


def lengths(ranks: int, seed: int, spread: float = 0.5) -> np.ndarray:
    return np.random.default_rng(seed).uniform(1 - spread, 1 + spread, (STEPS, ranks)) * 4096


@settings(max_examples=25)
@given(ranks=st.integers(2, 16), seed=st.integers(0, 10_000), spread=st.floats(0.1, 0.8))
def test_ranks_that_are_late_by_the_length_of_their_inputs_are_not_named(ranks, seed, spread) -> None:
    work = lengths(ranks, seed, spread)
    found = judge(made(work, seed=seed), None, work=work)
    assert {finding.rank for finding in found} <= {None}
    assert {finding.cause for finding in found} <= {"code"}


@settings(max_examples=25)
@given(ranks=st.integers(3, 16), seed=st.integers(0, 10_000), more=st.floats(0.015, 0.2), data=st.data())
def test_a_rank_that_needs_longer_for_the_same_work_is_named_among_inputs_of_all_lengths(
    ranks, seed, more, data
) -> None:
    rank, work = data.draw(st.integers(0, ranks - 1)), lengths(ranks, seed)
    found = judge(made(work, late=rank, more=more, seed=seed), None, work=work)
    assert [finding.rank for finding in found if finding.kind == "straggler"] == [rank]


def test_a_rank_that_always_has_more_work_is_an_uneven_split() -> None:
    work = np.full((STEPS, 8), 4096.0)
    work[:, 3] = 6144
    (found,) = judge(made(work), None, work=work)
    assert (found.kind, found.cause, found.rank, found.probable) == ("structural", "code", None, False)
    assert found.slowdown == pytest.approx(0.5 * sum(USUAL[part] for part in COMPUTE) / 0.1, abs=0.05)
    assert [finding.rank for finding in judge(made(work), None)] == [3]  # without knowing of the work


def test_a_little_more_work_does_not_excuse_a_rank_that_is_very_late() -> None:
    work = np.full((STEPS, 8), 4096.0)
    work[:, 3] = 4300
    found = judge(made(work, late=3, more=0.1), None, work=work)
    assert [finding.rank for finding in found] == [3]


def test_work_that_is_unknown_or_everywhere_the_same_explains_nothing() -> None:
    same = np.full((STEPS, 4), 512.0)
    job = made(same)
    assert for_equal_work(job, same) is None
    assert for_equal_work(job, np.full((STEPS, 4), np.nan)) is None
    assert for_equal_work(job, np.zeros((STEPS, 4))) is None
