"""The probe's account of its own cost, and how the benchmark compares."""

import pytest

from benchmarks.overhead.compare import interval, ratio, usual
from trainer_agent.rank.cost import EVERY, KEPT, Cost
from trainer_agent.rank.guard import Guard


class HandClock:
    """Moved on by the hooks, in nanoseconds."""

    time = 0

    def now(self) -> int:
        return self.time

    def work(self, us: int) -> None:
        self.time += us * 1_000


def test_hooks_of_one_of_many_steps_are_timed_and_a_hook_inside_another_counts_once() -> None:
    clock = HandClock()
    guard = Guard(on_failure=lambda: None, now=clock.now)
    cost = Cost(guard)
    assert cost.us is None

    def last_hook(made: int) -> None:
        clock.work(30)
        cost.step_ended(made)
        clock.work(5)

    for made in range(1, 2 * EVERY + 3):
        guard.run("outer", lambda: guard.run("inner", clock.work, 100))
        clock.work(7_000)  # the script's own
        guard.run("last", last_hook, made)
    assert cost.us == 135


def test_a_step_in_which_something_else_had_the_processor_does_not_count() -> None:
    clock = HandClock()
    guard = Guard(on_failure=lambda: None, now=clock.now)
    cost = Cost(guard)
    for made in range(1, 20 * EVERY + 2):
        guard.run("part", clock.work, 4_000 if made % (10 * EVERY) == 1 else 120)
        cost.step_ended(made)
    assert cost.us == 120
    for made in range(20 * EVERY + 2, (20 + KEPT) * EVERY + 3):
        guard.run("part", clock.work, 80)
        cost.step_ended(made)
    assert cost.us == 80


def test_around_a_call_both_sides_are_timed_and_the_call_itself_is_not() -> None:
    clock = HandClock()
    guard = Guard(on_failure=lambda: None, now=clock.now)
    guard.around("part", clock, "work", lambda args, kwargs: before(3), lambda args, kwargs: before(4))
    before = HandClock.work.__get__(clock)
    for timed, spent in ((False, 0), (True, 7_000)):
        guard.timed = timed
        clock.work(500)
        assert guard.spent_ns == spent
    assert clock.time == 2 * 507_000


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
