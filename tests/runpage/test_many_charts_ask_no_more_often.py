"""How often the database is asked for numbers does not grow with the charts that a page asks for at once."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.pages.people import team
from tests.runpage import stored
from tests.telemetry import batches
from webapp.runs.models import Attempt, AttemptNode, RankState, Status
from webapp.telemetry import ahead, store
from webapp.telemetry.models import Tail

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

STEPS, AGAIN = 2_300, 1_500  # steps of each attempt; the first that attempt 2 does again
MOST = 20  # questions to the database, whatever is asked for
PHASES = ("data", "forward", "backward", "exposed_comm", "optimizer")
BUILT_IN = ["step_time", "phases", "comm", "busbw", *(f"heat:{phase}" for phase in ("local", "step", *PHASES))]
VALUES = [f"value:m{k}" for k in range(10)]
WINDOWS = [
    {},
    {"last": "300"},
    {"lo": "100", "hi": "2000"},
    {"lo": "1490", "hi": "1510"},
    {"attempt": "1"},
    {"attempt": "2"},
]

Ask = Callable[..., tuple[int, dict[str, Any]]]


def lived(attempt: Attempt, steps: range) -> None:
    """Its young data: each metric is logged at steps of its own."""
    values = [
        batches.values(f"m{k}", k % 4, {n + attempt.first_step: 1.0 * n for n in steps[k :: k + 1]}) for k in range(10)
    ]
    batches.tail(attempt, steps.start + 1, steps=[batches.steps(range(4), steps)], values=values)


@pytest.fixture
def attempt() -> Attempt:
    """The second of two: the first is wholly stored, of this one the newest steps are young."""
    first = stored.run_with_steps(team().project, steps=1)
    lived(first, range(1, STEPS))
    store.compact(first, list(Tail.objects.filter(attempt=first)))
    Attempt.objects.update(compacted=True, status=Status.ENDED)
    second = Attempt.objects.create(run=first.run, number=2, world_size=4, first_step=AGAIN, status=Status.RUNNING)
    AttemptNode.objects.create(attempt=second, node_rank=0, node_uid="n-0", node_name="gpu-0")
    RankState.objects.bulk_create(
        RankState(attempt=second, rank=rank, node_rank=0, local_rank=rank) for rank in range(4)
    )
    lived(second, range(STEPS - 100))
    store.compact(second, list(Tail.objects.filter(attempt=second)))
    lived(second, range(STEPS - 100, STEPS))
    return second


@pytest.fixture
def ask(client: Client, attempt: Attempt) -> Ask:
    client.force_login(attempt.run.owner)

    def get(ids: list[str], window: dict[str, str]) -> tuple[int, dict[str, Any]]:
        url = reverse("runs:panels", args=[attempt.run.uid])
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(url, {"ids": ",".join(ids), **window})
        assert answer.status_code == 200
        return len(queries), answer.json()["panels"]

    return get


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_ten_values_ask_as_often_as_one(ask: Ask, window: dict[str, str]) -> None:
    one, ten = ask(VALUES[:1], window), ask(VALUES, window)
    assert ten[0] == one[0] <= MOST
    assert all(panel["x"] for panel in ten[1].values())


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_all_charts_of_steps_ask_little_more_often_than_two(ask: Ask, window: dict[str, str]) -> None:
    two, all_of_them = ask(["phases", "heat:local"], window), ask(BUILT_IN, window)
    assert all_of_them[0] <= min(two[0] + 1, MOST)
    assert all(panel["x"] for panel in all_of_them[1].values())


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_what_is_too_big_to_be_read_ahead_is_read_one_by_one_and_shows_the_same(
    ask: Ask, window: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = ask([*VALUES, *BUILT_IN], window)
    monkeypatch.setattr(ahead, "MOST_CELLS", 0)
    one_by_one = ask([*VALUES, *BUILT_IN], window)
    assert one_by_one[0] > together[0]
    assert one_by_one[1] == together[1]
