"""Every stored point at full resolution, as JSON and CSV."""

import csv
import io
import json
import math
from typing import Any

import pytest

from tests import builders
from tests.api.asking import Asker, asker, body
from tests.telemetry.batches import samples, steps, tail, values
from webapp.api import points as api_points
from webapp.runs.models import Attempt
from webapp.telemetry.models import Tail
from webapp.telemetry.store import compact

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def attempt() -> Attempt:
    return builders.running_attempt(nodes=2, ranks_per_node=2)


@pytest.fixture
def ask(attempt: Attempt) -> Asker:
    return asker(attempt.run.owner)


def points(ask: Asker, of: Attempt, /, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body(ask.get(f"/runs/{of.run.uid}/metrics", **query)))
    return found


def test_every_step_of_every_rank_comes_back_in_seconds(ask: Asker, attempt: Attempt) -> None:
    tail(attempt, 1, 0, steps=[steps([0, 1], range(300))])
    tail(attempt, 1, 1, steps=[steps([2, 3], range(300), slow={3: 7})])
    compact(attempt, list(Tail.objects.all()))
    tail(attempt, 2, 0, steps=[steps([0, 1], range(300, 310))])
    all_ranks = points(ask, attempt, name="phase/backward")
    assert (all_ranks["name"], all_ranks["unit"], all_ranks["attempt"]) == ("phase/backward", "s", 1)
    assert list(all_ranks["ranks"]) == ["0", "1", "2", "3"]
    assert all_ranks["ranks"]["0"] == [[step, 0.05] for step in range(310)]
    assert all_ranks["ranks"]["3"] == [[step, 0.057] for step in range(300)]
    one = points(ask, attempt, name="phase/backward", rank=3, attempt=1)
    assert one["rank"] == 3
    assert one["points"] == all_ranks["ranks"]["3"]


def test_what_json_cannot_say_is_null_and_named(ask: Asker, attempt: Attempt) -> None:
    tail(attempt, 1, values=[values("loss", 0, {0: 1.5, 1: math.nan, 2: math.inf, 3: -math.inf, 7: 0.1})])
    found = points(ask, attempt, name="loss", rank=0)
    assert found["points"] == [[0, 1.5], [1, None], [2, None], [3, None], [7, 0.1]]
    assert found["nonfinite"] == {"1": "NaN", "2": "Infinity", "3": "-Infinity"}
    assert found["unit"] == ""
    assert points(ask, attempt, name="loss")["nonfinite"] == {"0": found["nonfinite"]}


def test_csv_reads_back_as_the_same_numbers(ask: Asker, attempt: Attempt) -> None:
    tail(attempt, 1, values=[values("loss", 0, {0: 0.1, 1: math.nan, 5: 1e-300}), values("loss", 2, {1: -2.0})])
    response = ask.get(f"/runs/{attempt.run.uid}/metrics", name="loss", format="csv")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(body(response).decode())))
    assert [(r["step"], r["rank"], r["value"]) for r in rows] == [
        ("0", "0", "0.1"),
        ("1", "0", "NaN"),
        ("1", "2", "-2.0"),
        ("5", "0", "1e-300"),
    ]
    one = body(ask.get(f"/runs/{attempt.run.uid}/metrics", name="loss", format="csv", rank=2))
    assert one == b"step,rank,value\n1,2,-2.0\n"


def test_long_answers_are_made_in_pieces_that_fit_together(
    ask: Asker, attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    tail(attempt, 1, values=[values("loss", rank, dict.fromkeys(range(7), 0.5) | {3: math.nan}) for rank in (0, 1)])
    forms: list[dict[str, Any]] = [{"format": "csv"}, {}, {"rank": 1}]
    whole = [body(ask.get(f"/runs/{attempt.run.uid}/metrics", name="loss", **form)) for form in forms]
    monkeypatch.setattr(api_points, "PIECE", 3)
    assert [body(ask.get(f"/runs/{attempt.run.uid}/metrics", name="loss", **form)) for form in forms] == whole
    assert whole[0].count(b"\n") == 15


def test_names_are_listed_with_unit_axis_and_points(ask: Asker, attempt: Attempt) -> None:
    tail(attempt, 1, values=[values("a/b c?%é", 0, {0: 1.0, 1: 2.0})], samples=[samples("node/cpu", 0, {100.5: 3.0})])
    found = {m["name"]: m for m in ask.get(f"/runs/{attempt.run.uid}/metrics").json()}
    assert found["a/b c?%é"] == {"name": "a/b c?%é", "unit": "", "axis": "step", "points": 2}
    assert found["node/cpu"] == {"name": "node/cpu", "unit": "%", "axis": "time", "points": 1}
    assert points(ask, attempt, name="a/b c?%é", rank=0)["points"] == [[0, 1.0], [1, 2.0]]


def test_a_rank_asks_for_what_its_node_measured(ask: Asker, attempt: Attempt) -> None:
    tail(attempt, 1, 1, samples=[samples("node/cpu", 1, {100.0: 42.0})])
    found = points(ask, attempt, name="node/cpu", rank=3)
    assert (found["axis"], found["points"]) == ("time", [[100, 42.0]])
    assert points(ask, attempt, name="node/cpu", rank=0)["points"] == []


def test_points_far_apart_and_without_order_cost_no_endless_walk(ask: Asker, attempt: Attempt) -> None:
    tail(attempt, 1, values=[values("odd", 1, {10**12: 2.0, -5: 1.0})])
    assert points(ask, attempt, name="odd", rank=1)["points"] == [[-5, 1.0], [10**12, 2.0]]


def test_a_built_in_metric_that_has_no_points_yet_is_empty(ask: Asker, attempt: Attempt) -> None:
    assert points(ask, attempt, name="phase/step", rank=0)["points"] == []
    assert points(ask, attempt, name="phase/step")["ranks"] == {}


def test_the_groups_metrics_answer_for_every_rank(ask: Asker, attempt: Attempt) -> None:
    tail(attempt, 1, steps=[steps([0, 1, 2, 3], range(4))])
    assert points(ask, attempt, name="comm/transfer", rank=3)["points"] == [[step, 0.005] for step in range(4)]
