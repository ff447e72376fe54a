"""Chart numbers: windows, keys, and a sentence for what cannot be answered."""

import math
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.urls import reverse

from tests.pages.people import team
from tests.runpage import stored
from tests.telemetry import batches
from webapp.runs.models import Attempt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

ODD_NAMES = ["loss", "", "  ", "__proto__", "a,b", "50%", "x y/ü·漢", "q?&=#", "user/step", "layers.0/grad\\norm\"'<b>"]


@pytest.fixture
def attempt() -> Attempt:
    return stored.run_with_steps(team().project, slow={3: 40})


@pytest.fixture
def ask(client: Any, attempt: Attempt) -> Callable[..., tuple[int, dict[str, Any]]]:
    client.force_login(attempt.run.owner)

    def get(name: str, **query: str) -> tuple[int, dict[str, Any]]:
        answer = client.get(reverse(f"runs:{name}", args=[attempt.run.uid]), query)
        return answer.status_code, answer.json()

    return get


def test_the_step_times_name_the_slow_rank(ask: Callable[..., Any]) -> None:
    status, found = ask("panels", ids="step_time,phases,comm,busbw,heat:backward,value:loss,device:rank%2Fcpu")
    assert status == 200
    panels = found["panels"]
    assert panels["step_time"]["worst"][0] == "rank 3"
    assert panels["step_time"]["x"] == list(range(40))
    assert panels["phases"]["columns"]["backward"][0] == pytest.approx(50, abs=1)
    assert panels["comm"]["columns"]["wait"][0] == pytest.approx(40, abs=1)
    assert len(panels["heat:backward"]["z"]) == 4
    assert panels["value:loss"]["columns"]["rank 0"][0] == 3.0
    assert set(panels["device:rank/cpu"]["columns"]) == {f"rank {rank}" for rank in range(4)}


def test_a_window_holds_only_its_steps(ask: Callable[..., Any]) -> None:
    assert ask("panels", ids="step_time", last="10")[1]["panels"]["step_time"]["x"] == list(range(30, 40))
    assert ask("panels", ids="step_time", lo="5", hi="8")[1]["panels"]["step_time"]["x"] == [5, 6, 7, 8]


def test_a_value_with_steps_of_its_own_shows_its_own_newest(ask: Callable[..., Any], attempt: Attempt) -> None:
    batches.tail(attempt, 2, values=[batches.values("epoch/accuracy", 0, {0: 0.1, 1: 0.4, 2: 0.5})])
    assert ask("panels", ids="value:epoch/accuracy", last="2")[1]["panels"]["value:epoch/accuracy"]["x"] == [1, 2]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_key_may_hold_any_character(ask: Callable[..., Any], attempt: Attempt, name: str) -> None:
    batches.tail(attempt, 2, values=[batches.values(name, 1, {0: 1.5})])
    status, found = ask("panels", ids=f"step_time,{quote(f'value:{name}', safe='')}")
    assert status == 200
    assert found["panels"][f"value:{name}"]["columns"]["rank 1"][0] == 1.5
    listed = ask("keys")[1]
    assert name in [*listed["keys"], listed["loss"]]


def test_nan_and_infinity_come_as_null_with_their_names(ask: Callable[..., Any], attempt: Attempt) -> None:
    batches.tail(attempt, 2, values=[batches.values("grad", 0, {0: 1.0, 1: math.nan, 2: math.inf})])
    panel = ask("panels", ids="value:grad")[1]["panels"]["value:grad"]
    assert panel["columns"]["rank 0"] == [1.0, None, None]
    assert panel["nonfinite"]["1"] == "NaN"
    assert "2" in panel["nonfinite"]


def test_keys_are_searched_and_paged_and_the_loss_stands_alone(ask: Callable[..., Any], attempt: Attempt) -> None:
    values = [batches.values(f"layer{n:03}/norm", 0, {0: 1.0}) for n in range(130)]
    batches.tail(attempt, 2, values=values)
    first, last = ask("keys")[1], ask("keys", page="3")[1]
    assert (first["total"], len(first["keys"]), len(last["keys"])) == (130, 60, 10)
    assert first["loss"] == "loss"
    assert "loss" not in first["keys"]
    assert first["devices"] == ["rank/cpu"]
    assert ask("keys", q="LAYER01 norm")[1]["keys"] == [f"layer01{n}/norm" for n in range(10)]
    assert ask("keys", page="4")[1]["keys"] == []


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({}, "what you ask for"),
        ({"ids": "nonsense"}, "no chart named “nonsense”"),
        ({"ids": "heat:nonsense"}, "no chart named"),
        ({"ids": "step_time", "lo": "x"}, "whole number"),
        ({"ids": "step_time", "lo": "9", "hi": "3"}, "below"),
        ({"ids": "step_time", "width": "1000000"}, "from 50 to 4,000"),
        ({"ids": "step_time", "attempt": "7"}, "no attempt"),
        ({"ids": ",".join(f"value:{n}" for n in range(99))}, "at most 40"),
    ],
)
def test_a_wrong_question_gets_a_sentence(ask: Callable[..., Any], query: dict[str, str], says: str) -> None:
    status, found = ask("panels", **query)
    assert status == 400
    assert says in found["error"]
