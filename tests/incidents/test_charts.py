"""Charts of an incident's evidence, from numbers alone."""

import numpy as np
import pytest

from webapp.incidents.charts import Subject, against_others, against_usual, links, parts_now, parts_of
from webapp.telemetry.series import Series

STEPS = np.arange(20)
RANK_2 = Subject(frozenset([2]), "rank 2", "Rank 2", 10)


def series(name: str, usual: float, late: dict[int, float] | None = None) -> Series:
    """Four ranks that take `usual` seconds; from step 10 on `late[rank]` more."""
    values = np.full((20, 4), usual)
    for rank, more in (late or {}).items():
        values[10:, rank] += more
    here = np.ones(values.shape, bool)
    return Series(name, "s", "step", STEPS, [0, 1, 2, 3], values, here, values, values, ~here, 0, 20)


def said(panel: dict) -> str:
    return "".join(text for text, _level in panel["finding"])


def test_a_late_rank_stands_against_the_median_of_the_others() -> None:
    panel = against_others(series("phase/backward", 0.05, {2: 0.2, 1: 0.001}), RANK_2, "backward")
    assert said(panel) == "Rank 2 takes 200 ms more than the others in backward."
    assert panel["columns"]["subject"] == [50.0] * 10 + [250.0] * 10
    assert panel["columns"]["ground"] == [50.0] * 20
    assert panel["columns"]["high"][-1] == pytest.approx(51.0)


def test_a_rank_that_is_like_the_others_is_said_to_be() -> None:
    panel = against_others(series("phase/data", 0.05), RANK_2, "data")
    assert panel["finding"] == [["Rank 2 is like the others in data.", ""]]


def test_a_part_that_nobody_has_seen_is_no_error() -> None:
    nothing, never = np.zeros((0, 0)), np.zeros((0, 0), bool)
    empty = Series("x", "s", "step", np.zeros(0, int), [], nothing, never, nothing, nothing, never, 0, 0)
    assert against_others(empty, RANK_2, "other")["x"] == []
    assert parts_of({"other": empty}, RANK_2)["rows"] == []


def test_bars_show_in_which_part_the_excess_is() -> None:
    parts = {"data": series("phase/data", 0.01), "backward": series("phase/backward", 0.05, {2: 0.2})}
    panel = parts_of(parts, RANK_2)
    assert (panel["rows"], panel["hot"]) == (["data", "backward"], "backward")
    assert (panel["subject"], panel["ground"]) == ([10.0, 250.0], [10.0, 50.0])
    assert said(panel) == "200 ms more in backward."


def test_the_mean_shows_what_is_late_now_and_then() -> None:
    now_and_then = series("phase/backward", 0.05)
    now_and_then.values[10::2, 2] += 0.2
    assert said(parts_of({"backward": now_and_then}, RANK_2)) == "100 ms more in backward."


def test_a_job_stands_against_its_own_past() -> None:
    now = np.where(STEPS < 10, 0.08, 0.12)
    panel = against_usual(STEPS, now, [0.08, 0.001], "step", 10)
    assert said(panel) == "A step takes 120 ms instead of 80 ms."
    assert (panel["columns"]["low"][0], panel["columns"]["high"][0]) == (77.0, 83.0)
    assert (
        said(against_usual(STEPS, now[:10].repeat(2), [0.08, 0.001], "transfer", 10))
        == "Transfers take 80 ms, as usual."
    )


def test_what_grew_is_held_against_the_usual_parts() -> None:
    parts = {"exposed_comm": series("phase/exposed_comm", 0.02, dict.fromkeys(range(4), 0.05))}
    panel = parts_now(parts, {"exposed": [0.02, 0.0]}, 10)
    assert (panel["hot"], panel["subject"], panel["ground"]) == ("exposed_comm", [70.0], [20.0])


def test_the_slow_link_is_named_in_the_matrix() -> None:
    panel = links({"0-1": 83.0, "1-0": 9.0, "0-2": 8.0, "2-0": 8.5}, {0: "gpu-a", 1: "gpu-b"}, None)
    assert panel["nodes"] == ["gpu-a", "gpu-b", "node 2"]
    assert panel["z"] == [[None, 83.0, 8.0], [9.0, None, None], [8.5, None, None]]
    assert said(panel) == "From gpu-a to gpu-b a megabyte takes 83.0 ms, on the usual link 8.8."
