"""DDP's own timers are read as often as their cost allows."""

import pytest

from trainer_agent.rank.pace import MAX_PERIOD, Pace


def learnt(seconds: float, steps: int) -> Pace:
    """After so many steps of a length; it is only asked when it is due, as in a run."""
    pace = Pace()
    for made in range(1, steps + 1):
        if made >= pace.due:
            pace.learn(made, 1e9 + made * seconds)
    return pace


@pytest.mark.parametrize(("seconds", "period"), [(0.005, 16), (0.11, 8), (0.3, 4), (0.9, 1), (60.0, 1)])
def test_short_steps_are_sampled_and_long_ones_all_read(seconds: float, period: int) -> None:
    pace = learnt(seconds, 3 * MAX_PERIOD)
    assert pace.us == pytest.approx(seconds * 1e6, rel=1e-3)
    assert pace.period == period


def test_a_pace_is_known_after_four_steps_and_every_step_is_read_until_sixteen() -> None:
    assert learnt(0.1, 3).us == 0
    assert learnt(0.1, 4).us == pytest.approx(100_000, rel=1e-3)
    assert learnt(0.1, 15).period == 1


def test_a_clock_that_is_set_back_gives_no_negative_pace() -> None:
    pace = learnt(0.1, 16)
    pace.learn(32, 1e9 - 3_600)
    assert pace.us == 0
