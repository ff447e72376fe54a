"""The pure function that says when a rule fires; live and the past ask the same one."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webapp.alerts.firing import (
    ABOVE,
    BELOW,
    NOT_FINITE,
    SAME_AGAIN_S,
    SILENT,
    Condition,
    Firing,
    Readings,
    fires,
    tells_now,
    together,
)
from webapp.alerts.of_incidents import Wanted, wants
from webapp.alerts.over_ranks import over_ranks
from webapp.telemetry.blocks import Block
from webapp.telemetry.series import series_of

gaps = st.lists(st.sampled_from([1.0, 2.0, 5.0, 30.0]), min_size=1, max_size=40)
numbers = st.sampled_from([0.0, 1.0, 2.0, 3.0, math.nan, math.inf])
conditions = st.builds(
    Condition,
    st.sampled_from([ABOVE, BELOW, SILENT, NOT_FINITE]),
    st.sampled_from([0.5, 1.5]),
    st.sampled_from([0, 4, 10]),
    st.sampled_from([0, 3, 20]),
)


@st.composite
def readings(draw: st.DrawFn) -> Readings:
    times = np.cumsum(draw(gaps))
    values = draw(st.lists(numbers, min_size=times.size, max_size=times.size))
    return Readings(times, np.array(values), float(times[-1]) + draw(st.sampled_from([0.0, 7.0, 100.0])))


def of(values: list[float], *, every: float = 10.0, until: float = 0.0) -> Readings:
    times = np.arange(len(values), dtype=np.float64) * every
    return Readings(times, np.array(values, dtype=float), until or float(times[-1]))


def test_it_fires_from_the_first_wrong_value_to_the_next_right_one() -> None:
    found = fires(of([1, 5, 6, 1, 7]), Condition(ABOVE, 4, 0, 0))
    assert found == [Firing(10, 30, 5), Firing(40, None, 7)]


def test_it_waits_for_the_hold_time_and_takes_the_value_of_then() -> None:
    assert fires(of([1, 5, 6, 6.5, 1]), Condition(ABOVE, 4, 0, 20)) == [Firing(30, 40, 6.5)]
    assert fires(of([1, 5, 6, 1]), Condition(ABOVE, 4, 0, 20)) == []
    assert fires(of([1, 5], until=29), Condition(ABOVE, 4, 0, 20)) == []
    assert fires(of([1, 5], until=30), Condition(ABOVE, 4, 0, 20)) == [Firing(30, None, 5)]


def test_a_window_compares_its_mean() -> None:
    spike = of([1, 1, 9, 1, 1])
    assert fires(spike, Condition(ABOVE, 4, 0, 0)) == [Firing(20, 30, 9)]
    assert fires(spike, Condition(ABOVE, 4, 30, 0)) == []
    assert fires(of([5, 1, 1, 1]), Condition(BELOW, 2, 20, 0)) == [Firing(20, None, 1)]


def test_silence_is_counted_from_the_last_value_and_ends_with_the_next() -> None:
    late = Readings(np.array([0.0, 10.0, 100.0]), np.ones(3), 115.0)
    assert fires(late, Condition(SILENT, 0, 30, 0)) == [Firing(40, 100, 30)]
    assert fires(late, Condition(SILENT, 0, 12, 0)) == [Firing(22, 100, 12), Firing(112, None, 12)]
    assert fires(Readings(np.zeros(0), np.zeros(0), 1e9), Condition(SILENT, 0, 30, 0)) == []


def test_a_nan_is_neither_above_nor_below_and_infinity_is_above() -> None:
    assert fires(of([math.nan, math.nan]), Condition(ABOVE, 0, 0, 0)) == []
    assert fires(of([math.nan, math.inf]), Condition(ABOVE, 1e9, 10, 0)) == [Firing(10, None, math.inf)]


def test_what_is_not_finite_fires_until_the_next_number_whatever_the_limit() -> None:
    never = Condition(NOT_FINITE, 1e9, 60, 0)
    assert repr(fires(of([1, math.nan, math.inf, 2, -math.inf]), never)) == repr(
        [Firing(10.0, 30.0, math.nan), Firing(40.0, None, -math.inf)]
    )
    assert fires(of([1, math.nan, 2]), Condition(NOT_FINITE, 0, 0, 10)) == []
    assert fires(of([1, 2]), never) == []


@given(readings(), conditions)
def test_firings_are_in_order_apart_and_within_what_was_looked_at(seen: Readings, condition: Condition) -> None:
    found = fires(seen, condition)
    for firing in found:
        assert seen.times[0] <= firing.since <= seen.until
        assert firing.until is None or firing.since < firing.until <= seen.until
    for before, after in pairwise(found):
        assert before.until is not None
        assert before.until <= after.since


@given(readings(), conditions, st.floats(0, 1))
def test_who_looks_earlier_sees_the_same_up_to_then(seen: Readings, condition: Condition, share: float) -> None:
    moment = float(seen.times[0]) + share * (seen.until - float(seen.times[0]))
    kept = seen.times <= moment
    earlier = fires(Readings(seen.times[kept], seen.values[kept], moment), condition)
    later = [firing for firing in fires(seen, condition) if firing.since <= moment]
    assert [(f.since, str(f.value)) for f in earlier] == [(f.since, str(f.value)) for f in later]
    assert [f.until for f in earlier] == [f.until if f.until is not None and f.until <= moment else None for f in later]


@given(readings(), conditions, st.integers(0, 39))
def test_the_newest_part_tells_whether_it_fires_now(seen: Readings, condition: Condition, dropped: int) -> None:
    times, values = seen.times[dropped:], seen.values[dropped:]
    assume(times.size)
    since = float(times[0]) + condition.window_s if dropped else -math.inf
    part = Readings(times, values, seen.until, since)
    assume(tells_now(part, condition))
    firing = [bool(found) and found[-1].until is None for found in (fires(part, condition), fires(seen, condition))]
    assert firing[0] == firing[1]


def test_what_comes_again_soon_is_one_alert() -> None:
    soon, late = 100.0 + SAME_AGAIN_S - 1, 100.0 + SAME_AGAIN_S
    assert together([Firing(0, 100, 1), Firing(soon, None, 2)]) == [Firing(0, None, 1)]
    assert together([Firing(0, 100, 1), Firing(late, None, 2)]) == [Firing(0, 100, 1), Firing(late, None, 2)]


@pytest.mark.parametrize(
    ("over", "above", "wanted"),
    [("min", True, [1, 4]), ("max", True, [3, 4]), ("mean", True, [2, 4]), ("median", True, [2, 4]),
     ("spread", True, [2, 0]), ("any", True, [3, 4]), ("any", False, [1, 4])],
)  # fmt: skip
def test_all_ranks_become_one_value(over: str, above: bool, wanted: list[float]) -> None:
    values = np.array([[1.0, 2.0, 3.0], [4.0, math.nan, 0.0], [math.nan, 0.0, 0.0]])
    present = np.array([[True] * 3, [True, True, False], [True, False, False]])
    series = series_of("x", "step", Block(np.arange(3), np.arange(3), values, present), 0, 3)
    found, whose = over_ranks(series, over, above)
    assert found[:2].tolist() == wanted
    extremes = {"min": [0, 0], "max": [2, 0], "any": [2, 0] if above else [0, 0]}
    assert whose.tolist() == [*extremes.get(over, [-1, -1]), -1]
    assert math.isnan(found[2])


@pytest.mark.parametrize(
    ("wanted", "incident", "taken"),
    [
        (Wanted((), "warning", 0), ("straggler", "warning", 0.1), True),
        (Wanted((), "warning", 0), ("straggler", "info", 0.1), False),
        (Wanted(("network",), "info", 0), ("straggler", "critical", 0.9), False),
        (Wanted(("network",), "info", 0), ("network", "info", 0.01), True),
        (Wanted((), "warning", 0.2), ("straggler", "warning", 0.1), False),
        (Wanted((), "warning", 0.2), ("hang", "critical", 0.0), True),
    ],
)
def test_a_rule_on_incidents_takes_what_it_wants(wanted: Wanted, incident: tuple[str, str, float], taken: bool) -> None:
    assert wants(wanted, *incident) is taken
