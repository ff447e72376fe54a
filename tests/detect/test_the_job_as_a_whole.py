import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.detect.made import TRANSFER, table
from workers.detect.baseline import Baseline, learn
from workers.detect.judge import judge
from workers.detect.table import Table


def healthy(made: Table, steps: int = 60) -> Baseline | None:
    return learn(made.rows(slice(0, steps)))


@settings(max_examples=20)
@given(ranks=st.integers(1, 16), seed=st.integers(0, 10_000), noise=st.floats(0, 0.2))
def test_a_healthy_run_is_like_its_past(ranks, seed, noise) -> None:
    made = table(ranks=ranks, seed=seed, noise=noise)
    assert judge(made, healthy(made)) == []


@pytest.mark.parametrize(("part", "cause"), [("forward", "forward"), ("data", "data"), ("other", "other")])
def test_all_ranks_slower_together_is_a_change_of_the_run_and_blames_no_rank(part: str, cause: str) -> None:
    def change(parts) -> None:
        parts[part][80:] += 0.03

    made = table(change=change)
    found = [finding for finding in judge(made, healthy(made)) if finding.kind == "regression"]
    assert [(f.cause, f.rank) for f in found] == [(cause, None)]
    assert abs((found[0].since or 0) - 80) <= 2
    assert found[0].slowdown == pytest.approx(0.29, abs=0.03)


def test_a_longer_transfer_is_the_network_and_not_a_rank() -> None:
    transfer = np.full(120, TRANSFER)
    transfer[90:] = 0.030
    made = table(transfer=transfer)
    (found,) = judge(made, healthy(made))
    assert (found.kind, found.cause, found.rank, found.since) == ("network", "network", None, 90)
    assert found.slowdown == pytest.approx(0.21, abs=0.02)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), more=st.floats(0.06, 0.3))
def test_the_onset_is_found_though_transfers_were_uneven_before(seed, more) -> None:
    transfer = TRANSFER + np.random.default_rng(seed).exponential(0.012, 120)
    transfer[79] = 0.2
    transfer[95:] += more
    made = table(transfer=transfer)
    (found,) = judge(made, healthy(made))
    assert abs((found.since or 0) - 95) <= 3


def test_one_very_long_transfer_is_nothing() -> None:
    transfer = np.full(120, TRANSFER)
    transfer[100] = 5.0
    made = table(transfer=transfer)
    assert judge(made, healthy(made)) == []


def test_a_late_rank_is_not_taken_for_the_network_though_all_wait_for_it() -> None:
    def change(parts) -> None:
        parts["backward"][80:, 2] += 0.2

    made = table(change=change)
    assert [finding.kind for finding in judge(made, healthy(made))] == ["straggler"]


def test_waiting_for_data_on_all_ranks_is_told_without_a_past() -> None:
    def change(parts) -> None:
        parts["data"][:] += 0.05

    (found,) = judge(table(change=change), None)
    assert (found.kind, found.cause, found.probable) == ("input", "data", False)


def test_a_passing_change_is_no_regression() -> None:
    def change(parts) -> None:
        parts["other"][90:96] += 0.2

    made = table(change=change)
    assert judge(made, healthy(made)) == []


def test_too_few_steps_make_no_baseline() -> None:
    assert learn(table(steps=59)) is None
