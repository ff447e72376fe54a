"""The pure parts: smoothing, curves, differences, bars, scaling, the best of several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.compare import curves, phase_bars, scaling, summary
from webapp.compare.colours import COLOURS, colours
from webapp.compare.curves import Clock
from webapp.compare.difference import difference
from webapp.compare.scaling import Pace
from webapp.compare.smoothing import smoothed
from webapp.telemetry.series import Series

_values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)
_weights = st.floats(0, 0.99)
_settings = st.dictionaries(st.sampled_from("abcde"), st.sampled_from(["1", "1.0", "2", "x", ""]), max_size=5)


def series(values: list[list[float]], *, axis: str = "step", unit: str = "") -> Series:
    array = np.array(values)
    known = np.isfinite(array)
    index = np.arange(len(values), dtype=np.int64)
    return Series(
        "m", unit, axis, index, list(range(array.shape[1])), array, known, array, array, ~known, 0, len(values)
    )


def tensorboard(values: list[float], weight: float) -> list[float]:
    """As its own front end smooths."""
    last, out = 0.0, []
    for n, value in enumerate(values, 1):
        last = last * weight + (1 - weight) * value
        out.append(last / (1 - weight**n))
    return out


@given(_values, _weights)
def test_at_even_steps_a_line_is_smoothed_as_tensorboard_smooths_it(values: list[float], weight: float) -> None:
    found = smoothed(np.arange(len(values), dtype=np.float64) * 10.0, np.array(values, dtype=np.float64), weight)
    assert found == pytest.approx(tensorboard(values, weight), rel=1e-6, abs=1e-3)


@given(_values, _weights, st.lists(st.floats(0.01, 100), min_size=40, max_size=40))
def test_a_smoothed_line_stays_between_the_least_and_the_greatest(
    values: list[float], w: float, gaps: list[float]
) -> None:
    found = smoothed(np.cumsum(gaps[: len(values)]), np.array(values), w)
    room = 1e-6 * (1 + max(map(abs, values)))
    assert min(values) - room <= found.min()
    assert found.max() <= max(values) + room


def test_points_close_together_do_not_count_for_more() -> None:
    even = smoothed(np.array([0.0, 10, 20, 30]), np.array([0.0, 0, 1, 1]), 0.9)
    crowded = smoothed(np.array([0.0, 10, 20, 20.001]), np.array([0.0, 0, 1, 1]), 0.9)
    assert crowded[3] < even[3]
    assert crowded[3] == pytest.approx(crowded[2], abs=1e-3)


def test_a_gap_stays_a_gap_and_does_not_start_the_line_again() -> None:
    found = smoothed(np.arange(4.0), np.array([1.0, np.nan, 1.0, 1.0]), 0.5)
    assert np.isnan(found[1])
    assert found[[0, 2, 3]].tolist() == [1.0, 1.0, 1.0]


@given(st.lists(_settings, max_size=4))
def test_every_setting_is_either_equal_in_all_runs_or_differs(runs: list[dict[str, str]]) -> None:
    found = difference(runs)
    names = [row.name for row in found.different] + [name for name, _text in found.equal]
    assert sorted(names) == sorted({name for settings in runs for name in settings})
    for row in found.different:
        assert [cell.text for cell in row.cells] == [settings.get(row.name, "") for settings in runs]
        assert any(cell.odd for cell in row.cells)
        assert not all(cell.odd for cell in row.cells)


def test_two_ways_to_write_a_number_are_equal_and_what_few_have_is_marked() -> None:
    found = difference([{"lr": "1e-3", "opt": "sgd"}, {"lr": "0.001", "opt": "sgd"}, {"lr": "0.0010", "opt": "lion"}])
    assert found.equal == [("lr", "1e-3")]
    assert [cell.odd for cell in found.different[0].cells] == [False, False, True]


def test_a_curve_keeps_a_spike_and_says_seconds_in_ms() -> None:
    values = [[0.1, 0.1]] * 5_000
    values[2_345] = [9.0, 9.0]
    found = curves.curve(series(values, unit="s"), curves.NO_CLOCK, "step", 0.9, 200)
    assert found is not None
    assert len(found["x"]) <= 202
    assert max(found["y"]) == 9_000
    assert max(found["s"]) < 9_000


def test_the_same_curve_by_step_and_by_time() -> None:
    clock = Clock(np.arange(3.0), np.array([1_000.0, 1_010.0, 1_030.0]))
    loss = series([[3.0], [2.0], [1.0]])
    by = {axis: curves.curve(loss, clock, axis, 0, 100) for axis in curves.AXES}
    assert [line["x"] for line in by.values() if line] == [[0, 1, 2], [1_000, 1_010, 1_030], [0, 10, 30]]
    assert curves.curve(loss, curves.NO_CLOCK, "relative", 0, 100) is None


def test_a_place_on_the_axis_is_found_in_the_run_again() -> None:
    clock = Clock(np.arange(3.0), np.array([1_000.0, 1_010.0, 1_030.0]))
    for index, axis in ((np.arange(3), "step"), (np.array([1_000, 1_010, 1_030]), "time")):
        for wanted in curves.AXES:
            places = clock.at(index, axis, wanted)
            assert places is not None
            assert [clock.index(float(x), axis, wanted) for x in places] == index.tolist()
    assert curves.NO_CLOCK.index(1.0, "step", "time") is None


def test_the_smallest_world_size_sets_the_ideal() -> None:
    found = scaling.points([Pace("a", 8, 60.0), Pace("b", 2, 20.0), Pace("c", 4, float("nan"))])
    assert [(p.uid, p.efficiency) for p in found] == [("b", 1.0), ("a", 0.75)]
    assert scaling.chart(found)["ideal"] == {"x": [2, 8], "y": [20.0, 80.0]}


def test_samples_are_counted_whether_logged_for_each_step_or_added_up() -> None:
    assert scaling.per_step(series([[32.0, 32.0]] * 4)) == 64
    assert scaling.per_step(series([[64.0], [128.0], [192.0], [256.0]])) == 64


def test_bars_hold_what_a_run_has_and_the_share_that_waits() -> None:
    seconds = {"a": {"data": 0.01, "exposed_comm": 0.03, "other": float("nan")}, "b": {}}
    assert phase_bars.bars(seconds) == {
        "phases": ["data", "exposed_comm"],
        "runs": {"a": {"data": 10, "exposed_comm": 30}},
    }
    assert phase_bars.waiting_shares(seconds) == {"a": 0.75}


def test_the_best_run_depends_on_which_end_is_better() -> None:
    came = {"a": summary.Came(0.5, 0.1, 0.9), "b": summary.Came(0.4, 0.2, 0.7), "c": summary.Came(None, None, None)}
    assert summary.best(came, more=False) == summary.Best("b", "a")
    assert summary.best(came, more=True) == summary.Best("a", "a")
    assert summary.more_is_better("val/accuracy")
    assert not summary.more_is_better("val/loss")


@given(st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=15))
def test_at_most_ten_runs_have_a_colour_each_its_own_whatever_their_order(uids: list[str]) -> None:
    found = colours(uids)
    assert set(found) == set(uids[:COLOURS])
    assert len(set(found.values())) == len(found)
    assert found == colours([*reversed(uids[:COLOURS]), *uids[COLOURS:]])
