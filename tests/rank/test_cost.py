"""The probe's account of its own cost, and how the benchmark compares."""

import time

import pytest

from benchmarks.overhead.compare import interval, ratio, usual
from trainer_agent.rank.cost import EVERY, Cost
from trainer_agent.rank.guard import Guard


def work(ms: float) -> None:
    end = time.thread_time() + ms / 1_000
    while time.thread_time() < end:
        pass


def test_hooks_of_one_of_many_steps_are_timed_and_a_hook_inside_another_counts_once() -> None:
    guard = Guard(on_failure=lambda: None)
    cost = Cost(guard)
    assert cost.us is None
    for made in range(1, 2 * EVERY + 2):
        guard.run("outer", lambda: guard.run("inner", work, 2.0))
        cost.step_ended(made)
    assert cost.us == pytest.approx(2_000, rel=0.3)


def test_a_hook_that_fails_while_it_is_timed_is_switched_off_like_any_other() -> None:
    guard = Guard(on_failure=lambda: None)
    guard.timed = True
    guard.run("part", lambda: 1 / 0)
    assert "part" in guard.failed
    assert guard.run("other", lambda: 7) == 7


def test_the_ratio_is_that_of_the_usual_pair_of_blocks_and_has_an_interval() -> None:
    pairs = [([0.101] * 9 + [5.0], [0.1] * 10)] * 9 + [([0.5] * 10, [0.1] * 10)]
    assert usual([0.101] * 9 + [5.0]) == pytest.approx(0.101)
    assert ratio(pairs) == pytest.approx(1.01)
    low, high = interval(pairs)
    assert low <= ratio(pairs) <= high
