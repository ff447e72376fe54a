"""The ledger: made, sent, stored, dropped, and every gap with its reason."""

from typing import Any

import pytest

from tests import builders
from tests.api.asking import asker
from tests.telemetry.batches import steps, tail
from webapp.runs.models import Attempt, RunEvent, Status

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def attempt() -> Attempt:
    return builders.running_attempt(nodes=1, ranks_per_node=2)


def ledger(attempt: Attempt) -> dict[str, Any]:
    found: dict[str, Any] = asker(attempt.run.owner).get(f"/runs/{attempt.run.uid}/ledger").json()
    return found


def test_all_stored_means_no_gap(attempt: Attempt) -> None:
    tail(attempt, 1, steps=[steps([0, 1], range(200))])
    full = {"made": 200, "sent": 200, "stored": 200, "dropped": 0, "gaps": []}
    found = ledger(attempt)
    assert (found["attempt"], found["ranks"]) == (1, {"0": full, "1": full})


def test_nothing_yet_is_all_zero(attempt: Attempt) -> None:
    assert ledger(attempt)["ranks"]["1"] == {"made": 0, "sent": 0, "stored": 0, "dropped": 0, "gaps": []}


def test_dropped_steps_are_counted_and_their_gaps_named(attempt: Attempt) -> None:
    tail(attempt, 1, steps=[steps([0], [*range(10), *range(15, 20)])])
    attempt.ranks.filter(rank=0).update(dropped={"steps": 5, "values": 3})
    told = {"what": "steps", "count": 5, "reason": "overwritten"}
    RunEvent.objects.create(run=attempt.run, attempt=attempt, kind="dropped", rank=0, data=told)
    assert ledger(attempt)["ranks"]["0"] == {
        "made": 20,
        "sent": 15,
        "stored": 15,
        "dropped": 5,
        "gaps": [[10, 14, "overwritten"]],
    }


def test_what_is_on_its_way_is_pending_and_unknown_once_the_attempt_has_ended(attempt: Attempt) -> None:
    tail(attempt, 1, steps=[steps([1], range(8))])
    attempt.ranks.filter(rank=1).update(made=10)
    assert ledger(attempt)["ranks"]["1"] == {
        "made": 10,
        "sent": 10,
        "stored": 8,
        "dropped": 0,
        "gaps": [[8, 9, "pending"]],
    }
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED)
    assert ledger(attempt)["ranks"]["1"]["gaps"] == [[8, 9, "unknown"]]


def test_steps_that_the_probe_could_not_read_count_as_dropped(attempt: Attempt) -> None:
    tail(attempt, 1, steps=[steps([0], [0, 1, 4])])
    attempt.ranks.filter(rank=0).update(facts={"dropped": {"steps": 2, "late": 9}})
    assert ledger(attempt)["ranks"]["0"] == {
        "made": 5,
        "sent": 3,
        "stored": 3,
        "dropped": 2,
        "gaps": [[2, 3, "unreadable"]],
    }
