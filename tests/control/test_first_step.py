"""Where the script's own count of steps stands when an attempt begins."""

import json

import pytest

from tests import builders
from tests.api.asking import asker
from tests.telemetry.batches import steps, tail, values
from trainer_agent.wire.messages import Event
from webapp.runs.first_step import Told, apart, first_step
from webapp.runs.lifecycle import apply_event
from webapp.runs.models import Attempt
from webapp.telemetry import charts, read

AFRESH = Told(difference=0)


@pytest.mark.parametrize(
    ("now", "earlier", "first"),
    [
        (Told(difference=31, resumed_at=30), [(AFRESH, 0)], 30),  # the script named its steps a moment earlier
        (Told(difference=30, resumed_at=None), [(AFRESH, 0)], 30),
        (Told(difference=130, resumed_at=30), [(AFRESH, 0)], 130),  # it counts from elsewhere
        (Told(), [], 0),
        (AFRESH, [], 0),
        (Told(difference=1), [], 0),  # logs before the step ends, or counts from 1
        (Told(difference=-1), [], 0),
        (Told(difference=200), [], 200),
        (Told(resumed_at=200), [], 200),
        (Told(difference=1, resumed_at=200), [], 0),  # a loaded optimizer, but the script counts afresh
        (Told(resumed_at=200), [(AFRESH, 0)], 200),
        (Told(difference=201), [(Told(difference=1), 0)], 200),
        (Told(difference=300), [(AFRESH, 0), (Told(difference=200), 200), (Told(resumed_at=200), 200)], 300),
        (Told(difference=1), [(Told(difference=1), 0)], 0),
        (Told(difference=-5), [(AFRESH, 0)], 0),
    ],
)
def test_the_first_step_follows_what_the_ranks_told(now: Told, earlier: list[tuple[Told, int]], first: int) -> None:
    assert first_step(now, earlier) == first


@pytest.fixture
def attempt(db: None, redis_client: object) -> Attempt:
    return builders.running_attempt(nodes=1, ranks_per_node=2)


def facts(attempt: Attempt, rank: int, **data: object) -> None:
    apply_event(attempt.parts.get(), Event(kind="rank_facts", at=1.0, rank=rank, data=data))
    attempt.refresh_from_db()


def test_the_lowest_rank_that_tells_decides(attempt: Attempt) -> None:
    facts(attempt, 1, own_step=None, resumed_at=30)
    assert attempt.first_step == 30
    facts(attempt, 1, own_step=41, resumed_at=30)
    assert attempt.first_step == 41
    facts(attempt, 0, own_step=40)
    assert attempt.first_step == 40
    facts(attempt, 0, own_step="many")
    assert attempt.first_step == 41


def test_every_reader_has_the_scripts_own_steps(attempt: Attempt) -> None:
    tail(attempt, 1, steps=[steps([0, 1], range(300))], values=[values("loss", 0, dict.fromkeys(range(200, 210), 1.0))])
    facts(attempt, 0, own_step=200)
    found = read.series(attempt, "phase/step", lo=250, hi=259)
    assert found.index.tolist() == list(range(250, 260))
    assert read.series(attempt, "comm/wait").index[[0, -1]].tolist() == [200, 499]
    rows = {row.name: (row.first_index, row.last_index) for row in read.metrics(attempt)}
    assert rows["phase/step"] == (200, 499)
    assert rows["loss"] == (200, 209)
    assert charts.panel(attempt, "step_time", lo=300)["x"][0] == 300
    api = asker(attempt.run.owner).get(f"/runs/{attempt.run.uid}/metrics?name=phase/step&rank=1")
    points = json.loads(b"".join(api.streaming_content))["points"]
    assert [point[0] for point in points] == list(range(200, 500))


def test_ranks_that_loaded_different_states_are_told_apart_once_all_have_spoken() -> None:
    thirty, fresh = {"resumed_at": 30}, {"resumed_at": None}
    assert apart({0: thirty, 1: thirty, 2: fresh, 3: fresh}) == {30: [0, 1], 0: [2, 3]}
    assert apart({0: thirty, 1: thirty}) == {}
    assert apart({0: fresh, 1: fresh}) == {}
    assert apart({0: thirty, 1: {}}) == {}
