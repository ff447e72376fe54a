import json

import numpy as np
import pytest

from tests import builders
from tests.telemetry.batches import samples, steps, tail, values
from webapp.telemetry import charts, read

pytestmark = pytest.mark.django_db


def said(panel) -> str:
    return "".join(text for text, _tone in panel["finding"])


def tones(panel) -> list[str]:
    return [tone for _text, tone in panel["finding"]]


def four_ranks(slow=None, count=300):
    attempt = builders.running_attempt()
    tail(attempt, 1, 0, steps=[steps([0, 1, 2, 3], range(count), slow=slow)])
    return attempt


def test_ranks_in_line_are_said_to_be_in_line_without_colour():
    panel = charts.panel(four_ranks(), "step_time")
    assert said(panel) == "All 4 ranks are in line: 75 ms a step."
    assert tones(panel) == [""]
    assert panel["columns"]["median"] == [75.0] * 300
    assert (panel["points"], panel["of"], panel["unit"]) == (300, 300, "ms")


def test_a_slow_rank_is_named_with_its_milliseconds():
    panel = charts.panel(four_ranks({1: 201}), "step_time")
    assert panel["finding"] == [["Rank 1 takes 201 ms more", "warn"], [" than the median of 4 ranks.", ""]]
    assert panel["worst"][0] == "rank 1"
    assert panel["columns"]["rank 1"] == panel["columns"]["max"] == [276.0] * 300
    assert panel["columns"]["min"] == [75.0] * 300


def test_of_two_ranks_the_slow_one_is_compared_with_the_other():
    attempt = builders.running_attempt(nodes=1)
    tail(attempt, 1, steps=[steps([0, 1], range(50), slow={0: 100})])
    assert said(charts.panel(attempt, "step_time")) == "Rank 0 takes 100 ms more than rank 1."


def test_a_difference_under_five_per_cent_has_no_colour():
    assert tones(charts.panel(four_ranks({2: 3}), "step_time")) == [""]


def test_phases_add_up_and_the_largest_is_named():
    panel = charts.panel(four_ranks(), "phases")
    assert sum(column[0] for column in panel["columns"].values()) == 80.0
    assert said(panel) == "A step takes 80 ms; the largest part is backward, 62.5 %."
    assert "other" not in panel["columns"]


def test_waiting_is_told_with_the_rank_that_is_waited_for():
    panel = charts.panel(four_ranks({3: 200}), "comm")
    assert panel["columns"]["transfer"][0] == 5.0
    assert panel["columns"]["wait"][0] == 200.0
    assert said(panel) == "200 ms of a step is waiting for rank 3, the transfer takes 5 ms."


def test_bus_bandwidth_is_in_gigabytes():
    panel = charts.panel(four_ranks(), "busbw")
    assert panel["columns"]["busbw"][0] == pytest.approx(0.6)
    assert said(panel) == "The all-reduce moves 0.6 GB/s."


def test_a_heatmap_has_a_row_per_rank_and_its_nodes():
    attempt = four_ranks({1: 200}, 40)
    panel = charts.panel(attempt, "heat:backward")
    assert panel["rows"] == ["0", "1", "2", "3"]
    assert [node[1:] for node in panel["nodes"]] == [[0, 1], [2, 3]]
    assert [row[0] for row in panel["z"]] == [50.0, 250.0, 50.0, 50.0]
    assert said(panel) == "Rank 1 takes 200 ms more in backward than the median of 4 ranks."
    low, high = panel["range"]
    assert low <= 50.0 < high


def test_a_heatmap_of_many_ranks_is_binned_and_small():
    attempt = builders.running_attempt(nodes=4, ranks_per_node=64)
    tail(attempt, 1, steps=[steps(range(256), range(1_000), slow={77: 200})])
    panel = charts.panel(attempt, "heat:local", width=1_000)
    assert panel["rows"][:2] == ["0–3", "4–7"]
    assert len(panel["rows"]) == 64
    assert panel["z"][77 // 4][0] == 275.0
    assert len(json.dumps(panel)) < 400_000


def test_a_long_window_is_thinned_and_keeps_its_spike():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("loss", 0, dict.fromkeys(range(50000), 1.0) | {31_234: 9.0})])
    panel = charts.panel(attempt, "value:loss", width=600)
    assert len(panel["x"]) <= 600
    assert panel["of"] == 50_000
    assert max(panel["columns"]["rank 0"]) == 9.0
    assert panel["x"] == sorted(set(panel["x"]))
    assert panel == charts.panel(attempt, "value:loss", width=600)


def test_as_many_points_as_fit_are_drawn_as_they_are():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("loss", 0, {k: float(k) for k in range(300)})])
    panel = charts.panel(attempt, "value:loss", width=600)
    assert (panel["points"], panel["of"]) == (300, 300)
    assert panel["columns"]["rank 0"] == [float(k) for k in range(300)]


def test_a_loss_that_is_no_number_is_shown_as_such():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("loss", 0, {0: 4.0, 1: 2.0, 12: np.nan, 13: np.inf, 14: -np.inf})])
    panel = charts.panel(attempt, "value:loss")
    assert panel["nonfinite"] == {"12": "NaN", "13": "∞", "14": "−∞"}
    assert panel["columns"]["rank 0"] == [4.0, 2.0, None, None, None]
    assert panel["finding"][0] == ["loss is NaN since step 12", "crit"]
    json.dumps(panel, allow_nan=False)


def test_a_loss_that_became_a_number_again_is_told_with_it():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("loss", 0, {0: 4.0, 1: np.nan, 2: 3.0})])
    assert said(charts.panel(attempt, "value:loss")) == "loss was NaN at step 1; now it is 3."


def test_ranks_that_are_sampled_at_seconds_of_their_own_are_all_in_the_sentence():
    attempt = builders.running_attempt()
    tail(attempt, 1, samples=[samples("rank/cpu", 0, {100.0: 14.2}), samples("rank/cpu", 1, {101.0: 14.4})])
    assert said(charts.panel(attempt, "device:rank/cpu")) == "14 % on each of 2 ranks."


def test_a_value_of_many_ranks_is_a_band():
    attempt = builders.running_attempt(nodes=1, ranks_per_node=8)
    tail(attempt, 1, values=[values("acc", rank, {1: rank / 10}) for rank in range(8)])
    panel = charts.panel(attempt, "value:acc")
    assert set(panel["columns"]) == {"min", "median", "max", "smooth"}
    assert panel["columns"]["max"] == [0.7]


def test_device_metrics_have_a_line_per_rank_by_time():
    attempt = builders.running_attempt()
    tail(attempt, 1, samples=[samples("gpu/util", r, {100.0: 90.0 + r, 101.0: 95.0}) for r in (0, 1)])
    tail(attempt, 2, samples=[samples("node/cpu", 1, {100.0: 12.0})])
    panel = charts.panel(attempt, "device:gpu/util")
    assert (panel["axis"], panel["unit"], panel["x"]) == ("time", "%", [100, 101])
    assert panel["columns"] == {"rank 0": [90.0, 95.0], "rank 1": [91.0, 95.0]}
    name = attempt.parts.get(node_rank=1).node_name
    assert charts.panel(attempt, "device:node/cpu")["columns"] == {name: [12.0]}


@pytest.mark.parametrize(
    "panel_id",
    ["step_time", "phases", "comm", "busbw", "heat:step", "value:none", "mean:none", "min:none", "device:gpu/util"],
)
def test_an_attempt_without_data_has_empty_panels(panel_id):
    panel = charts.panel(builders.running_attempt(), panel_id)
    assert panel["x"] == []
    assert said(panel) == "No data in this window."
    json.dumps(panel, allow_nan=False)


def test_a_rank_that_logs_one_step_in_ten_has_gaps_and_holds_nobody_up():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("acc", rank, dict.fromkeys(range(100), 1.0)) for rank in range(3)])
    tail(attempt, 2, values=[values("acc", 3, dict.fromkeys(range(0, 100, 10), 2.0))])
    panel = charts.panel(attempt, "value:acc")
    assert panel["x"] == list(range(100))
    assert panel["columns"]["rank 3"] == [2.0 if step % 10 == 0 else None for step in range(100)]
    assert panel["columns"]["rank 0"] == [1.0] * 100


def test_every_rank_is_stored_and_any_reduction_is_made_when_it_is_read():
    attempt = builders.running_attempt(nodes=2, ranks_per_node=4)
    for rank in range(8):
        tail(attempt, rank + 1, values=[values("acc", rank, {step: float(rank * step) for step in range(5)})])
    panel = charts.panel(attempt, "value:acc")
    stored = read.series(attempt, "acc").values
    assert panel["reduction"] == "min, median and max of 8 ranks"
    for name, reduce in (("min", np.min), ("median", np.median), ("max", np.max)):
        assert panel["columns"][name] == reduce(stored, axis=1).tolist()
    least, greatest, mean = (charts.panel(attempt, f"{over}:acc") for over in ("min", "max", "mean"))
    assert least["columns"] == {"min": stored.min(axis=1).tolist()}
    assert greatest["columns"] == {"max": stored.max(axis=1).tolist()}
    assert mean["columns"]["mean"] == [3.5 * step for step in range(5)]
    away = stored.std(axis=1)
    assert np.allclose(mean["columns"]["low"], stored.mean(axis=1) - away)
    assert np.allclose(mean["columns"]["high"], stored.mean(axis=1) + away)
    assert mean["reduction"] == "mean and standard deviation of 8 ranks"


def test_a_mean_is_of_the_ranks_that_have_a_value_and_says_what_is_no_number():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("acc", 0, {0: 1.0, 1: float("nan")}), values("acc", 1, {0: 3.0})])
    panel = charts.panel(attempt, "mean:acc")
    assert panel["columns"] == {"mean": [2.0, None], "low": [1.0, None], "high": [3.0, None]}
    assert panel["nonfinite"] == {"1": "NaN"}
