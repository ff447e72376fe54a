"""Step by step, as the watch sees a run: when is a late rank named, and is nobody named before that."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.detect.made import Change, table
from workers.detect.excess import excess
from workers.detect.judge import judge
from workers.detect.straggler import enough_to_name, seems_late
from workers.detect.table import Table

WINDOW = 120
ONSET = 70
MS = 0.001


def noisy(kind: str, seed: int, share: float) -> Change:
    """Noise of one rank and one step: `share` of the step typically, with tails as heavy as the kind says.

    Every 50th step of a rank it also collects garbage for half a step.
    """

    def change(parts: dict[str, np.ndarray]) -> None:
        random = np.random.default_rng(seed)
        shape = parts["backward"].shape
        drawn = {
            "gaussian": random.standard_normal(shape),
            "heavy": random.standard_t(2, shape),
            "one-sided": np.minimum(random.pareto(1.3, shape), 100.0),
        }[kind]
        parts["backward"] += np.maximum(0.1 * share * drawn, -0.04)
        parts["other"] += (random.random(shape) < 0.02) * 50 * MS

    return change


def seen(made: Table, since: int) -> Iterator[tuple[int, Table]]:
    """(steps since then, the window that ends there)"""
    for end in range(since + 1, made.steps.size + 1):
        yield end - since, made.rows(slice(max(0, end - WINDOW), end))


def named_after(made: Table) -> tuple[int, set[int | None]]:
    """Steps since the onset until somebody is named, and who."""
    for after, window in seen(made, ONSET):
        found = {finding.rank for finding in judge(window, None)}
        if found:
            return after, found
    return WINDOW, set()


def late(rank: int, share: float, seed: int, *, kind: str, noise: float, ranks: int, part: str = "backward") -> Table:
    def change(parts: dict[str, np.ndarray]) -> None:
        noisy(kind, seed, noise)(parts)
        parts[part][ONSET:, rank] += 0.1 * share

    return table(ranks=ranks, seed=seed, noise=0.01, steps=ONSET + 45, change=change)


@pytest.mark.parametrize(
    ("share", "noise", "steps"), [(0.15, 0.02, 10), (0.5, 0.02, 7), (0.5, 0.05, 7), (2.0, 0.02, 7), (2.0, 0.08, 7)]
)
@pytest.mark.parametrize("kind", ["gaussian", "heavy"])
def test_a_rank_that_is_late_by_much_is_named_within_ten_steps(share, noise, steps, kind) -> None:
    for seed in range(3):
        made = late(1, share, seed, kind=kind, noise=noise, ranks=4, part=("data", "forward")[seed % 2])
        after, who = named_after(made)
        assert (who, after <= steps) == ({1}, True), (seed, after)


@pytest.mark.parametrize(("share", "noise"), [(0.08, 0.02), (0.08, 0.03), (0.05, 0.015)])
def test_a_rank_that_is_late_by_little_is_named_within_forty(share, noise) -> None:
    found = [named_after(late(2, share, seed, kind="gaussian", noise=noise, ranks=4)) for seed in range(5)]
    assert all(who <= {2} for _after, who in found), found
    assert sum(after <= 40 for after, _who in found) >= 4, found


@pytest.mark.parametrize("part", ["data", "forward", "optimizer"])
@pytest.mark.parametrize(("share", "steps"), [(0.08, 10), (0.05, 24)])
def test_the_noise_of_other_parts_does_not_hide_the_part_that_is_late_by_little(part, share, steps) -> None:
    found = []
    for seed in range(5):
        made = late(1, share, seed, kind="gaussian", noise=0.035, ranks=4, part=part)
        found.append(named_after(made))
        (told,) = judge(made, None)
        assert (told.rank, told.cause, told.probable) == (1, part, False)
        assert told.evidence["excess"] == pytest.approx(0.1 * share, abs=0.002)
    assert [who for _after, who in found] == [{1}] * 5, found
    assert sorted(after for after, _who in found)[3] <= steps, found


def test_a_part_that_is_longer_where_another_one_is_shorter_makes_nobody_late() -> None:
    def change(parts: dict[str, np.ndarray]) -> None:
        noisy("gaussian", 1, 0.01)(parts)
        parts["forward"][ONSET:, 1] += 0.008  # its script counts something to the other part
        parts["backward"][ONSET:, 1] -= 0.008

    made = table(ranks=4, steps=ONSET + 50, change=change)
    assert [judge(window, None) for _after, window in seen(made, ONSET)] == [[]] * 50


@pytest.mark.parametrize("steps", [2, 4, 6])
def test_some_steps_of_a_little_more_work_name_nobody(steps: int) -> None:
    def change(parts: dict[str, np.ndarray]) -> None:
        noisy("gaussian", 1, 0.02)(parts)
        parts["forward"][ONSET : ONSET + steps, 1] += 0.012

    made = table(ranks=4, steps=ONSET + 30, change=change)
    assert [judge(window, None) for _after, window in seen(made, ONSET)] == [[]] * 30


@settings(max_examples=10, derandomize=True)
@given(
    kind=st.sampled_from(["gaussian", "heavy", "one-sided"]),
    noise=st.floats(0.005, 0.08),
    ranks=st.sampled_from([2, 3, 4, 8]),
    seed=st.integers(0, 1000),
)
def test_noise_with_heavy_tails_and_collections_name_nobody_at_any_step(kind, noise, ranks, seed) -> None:
    made = table(ranks=ranks, seed=seed, noise=0.01, steps=200, change=noisy(kind, seed, noise))
    for after, window in seen(made, 20):
        if after % 4 == 0:
            assert {finding.rank for finding in judge(window, None)} <= {None}, after


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_what_takes_some_steps_and_is_over_names_nobody(steps: int) -> None:
    def change(parts: dict[str, np.ndarray]) -> None:
        noisy("gaussian", 1, 0.03)(parts)
        parts["other"][ONSET : ONSET + steps, 0] += 1.0

    made = table(ranks=4, steps=ONSET + 30, change=change)
    assert [judge(window, None) for _after, window in seen(made, ONSET)] == [[]] * 30


def test_what_a_rank_had_before_is_not_taken_for_the_reason_of_its_lateness() -> None:
    def change(parts: dict[str, np.ndarray]) -> None:
        parts["other"][50:52, 1] += 2.0  # a checkpoint
        parts["backward"][ONSET:, 1] += 0.05

    made = table(ranks=4, steps=ONSET + 7, change=change)
    (found,) = judge(made, None)
    assert (found.rank, found.cause, found.since) == (1, "backward", ONSET)
    assert found.slowdown == pytest.approx(0.5, abs=0.1)


def test_ranks_that_fall_behind_together_are_named_together() -> None:
    def change(parts: dict[str, np.ndarray]) -> None:
        parts["forward"][ONSET:, 2:4] += 0.05
        parts["forward"][ONSET + 3, 3] -= 0.05  # but one of them was in time once

    made = table(ranks=4, nodes=2, steps=ONSET + 20, change=change)
    _after, window = next(one for one in seen(made, ONSET) if judge(one[1], None))
    assert [finding.subject for finding in judge(window, None)] == ["node 1"]


@settings(max_examples=8, derandomize=True)
@given(share=st.floats(0.08, 2.0), ranks=st.sampled_from([2, 3, 4, 8]), seed=st.integers(0, 1000))
def test_the_cheap_look_overlooks_nobody(share, ranks, seed) -> None:
    made = late(0, share, seed, kind="gaussian", noise=0.02, ranks=ranks)
    for _after, window in seen(made.rows(slice(0, ONSET + 12)), ONSET):
        assert seems_late(window) or not enough_to_name(excess(window)).any()
