import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.detect.made import USUAL, Change, table
from workers.detect.judge import judge
from workers.detect.straggler import stragglers
from workers.detect.table import PARTS


def slower(rank: int, part: str, seconds: float, since: int = 60) -> Change:
    def change(parts: dict[str, np.ndarray]) -> None:
        parts[part][since:, rank] += seconds

    return change


@settings(max_examples=25)
@given(
    ranks=st.sampled_from([2, 3, 4, 8, 64]),
    part=st.sampled_from(PARTS),
    share=st.floats(0.09, 3.0),
    since=st.integers(20, 105),
    seed=st.integers(0, 10_000),
    data=st.data(),
)
def test_a_rank_that_is_late_by_eight_per_cent_or_more_is_named_with_its_part_and_its_onset(
    ranks, part, share, since, seed, data
) -> None:
    rank = data.draw(st.integers(0, ranks - 1))
    found = stragglers(table(ranks=ranks, seed=seed, change=slower(rank, part, share * 0.1, since)))
    assert [(finding.rank, finding.cause) for finding in found] == [(rank, part)]
    assert abs((found[0].since or 0) - since) <= 2
    assert found[0].slowdown == pytest.approx(share, rel=0.35, abs=0.05)
    assert found[0].evidence["excess"] == pytest.approx(share * 0.1, rel=0.2)


@settings(max_examples=25)
@given(
    ranks=st.sampled_from([3, 4, 8, 64]),
    part=st.sampled_from(PARTS),
    share=st.floats(0.045, 0.08),
    seed=st.integers(0, 10_000),
)
def test_a_rank_that_is_late_by_five_per_cent_is_named_after_forty_steps(ranks, part, share, seed) -> None:
    found = stragglers(table(ranks=ranks, seed=seed, noise=0.01, change=slower(1, part, share * 0.1, since=80)))
    assert [(finding.rank, finding.cause) for finding in found] == [(1, part)]
    assert abs((found[0].since or 0) - 80) <= 3
    assert found[0].slowdown == pytest.approx(share, abs=0.02)


@settings(max_examples=25)
@given(ranks=st.integers(1, 16), seed=st.integers(0, 10_000), noise=st.floats(0, 0.15))
def test_nobody_is_named_in_a_healthy_job(ranks, seed, noise) -> None:
    assert judge(table(ranks=ranks, seed=seed, noise=noise), None) == []


def test_two_culprits_at_once_are_both_named_and_no_victim() -> None:
    def change(parts) -> None:
        slower(1, "forward", 0.030)(parts)
        slower(5, "data", 0.050)(parts)

    assert {(f.rank, f.cause) for f in stragglers(table(change=change))} == {(1, "forward"), (5, "data")}


def test_a_rank_that_is_late_in_every_fifth_step_is_named_though_no_median_shows_it() -> None:
    def change(parts) -> None:
        parts["other"][::5, 3] += 0.1

    (found,) = stragglers(table(change=change))
    assert (found.rank, found.cause) == (3, "other")
    assert found.slowdown == pytest.approx(0.2, abs=0.03)


def test_lateness_that_wanders_names_no_rank() -> None:
    random = np.random.default_rng(3)

    def change(parts) -> None:
        for step in range(40, 120):
            parts["data"][step, random.integers(8)] += 0.05

    (found,) = stragglers(table(change=change))
    assert (found.kind, found.rank, found.cause, found.subject) == ("wandering", None, "data", "job")


def test_all_ranks_of_one_node_make_one_finding_about_the_node() -> None:
    def change(parts) -> None:
        parts["forward"][60:, 4:] += 0.03

    (found,) = stragglers(table(ranks=8, nodes=2, change=change))
    assert (found.subject, found.node_rank, found.rank) == ("node 1", 1, None)


def test_ranks_of_one_node_that_are_late_for_different_reasons_are_told_one_by_one() -> None:
    def change(parts) -> None:
        parts["backward"][60:, 2] += 0.08
        parts["data"][60:, 3] += 0.06

    found = stragglers(table(ranks=8, nodes=4, change=change))
    assert {(f.subject, f.cause) for f in found} == {("rank 2", "backward"), ("rank 3", "data")}


def test_an_uneven_split_over_many_ranks_is_structural() -> None:
    def change(parts) -> None:
        parts["backward"][:, ::3] += 0.03  # ranks 0, 3, 6, … on all nodes

    (found,) = stragglers(table(ranks=12, nodes=3, change=change))
    assert (found.kind, found.rank) == ("structural", None)


@pytest.mark.parametrize("step", [60, 118])
def test_a_step_or_three_of_evaluation_checkpoint_or_collection_alert_nobody(step: int) -> None:
    def change(parts) -> None:
        parts["other"][step : step + 3, 0] += 2.0

    assert judge(table(steps=121, change=change), None) == []


def test_forward_and_backward_longer_by_the_same_ratio_are_the_device() -> None:
    def change(parts) -> None:
        for part in ("forward", "backward"):
            parts[part][60:, 1] *= 1.3

    assert [f.cause for f in stragglers(table(change=change), on_gpu=True)] == ["gpu"]
    assert [f.cause for f in stragglers(table(change=change), on_gpu=False)] == ["cpu"]


def test_every_part_longer_by_the_same_ratio_is_a_starved_processor() -> None:
    def change(parts) -> None:
        for part in USUAL:
            parts[part][60:, 1] *= 1.5

    (found,) = stragglers(table(change=change), on_gpu=True)
    assert (found.cause, found.probable) == ("cpu", True)


def test_a_late_rank_stays_named_until_it_is_in_line_for_most_of_twenty_steps() -> None:
    late = table(steps=100, change=slower(2, "data", 0.03, since=0))
    healing = table(steps=100, change=lambda parts: parts["data"].__setitem__((slice(0, 93), 2), 0.04))
    assert [f.rank for f in stragglers(late)] == [2]
    assert stragglers(healing.rows(slice(60, 100))) == [] or stragglers(healing)[0].rank == 2
    assert [f.rank for f in stragglers(healing, late_before=frozenset({2}))] == [2]
    healed = table(steps=100, change=lambda parts: parts["data"].__setitem__((slice(0, 40), 2), 0.04))
    assert stragglers(healed.rows(slice(60, 100)), late_before=frozenset({2})) == []


def test_when_too_few_ranks_have_told_nobody_is_compared() -> None:
    made = table(ranks=8, change=slower(1, "data", 0.05))
    made.step[:, 4:] = np.nan
    assert judge(made, None) == []


def test_a_thousand_ranks_take_no_more_than_one_pass() -> None:
    found = stragglers(table(ranks=1024, steps=60, change=slower(700, "backward", 0.05, since=20)))
    assert [f.rank for f in found] == [700]
