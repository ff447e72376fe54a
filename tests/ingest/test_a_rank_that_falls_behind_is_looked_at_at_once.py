import json

import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import steps
from tests.waiting import until
from webapp.incidents.models import Incident
from webapp.queue import LOOK
from workers.detect.evidence import NOW
from workers.watch import look_now

pytestmark = pytest.mark.django_db(transaction=True)


def asked(redis_client) -> list[str]:
    """The looks that wait for a worker."""
    messages = [json.loads(message) for message in redis_client.lrange("paceline", 0, -1)]
    return [message["headers"]["argsrepr"] for message in messages if message["headers"]["task"] == LOOK]


def say(nodes, ingest, attempt, numbers, late: int = 0) -> None:
    """What both nodes tell of these steps, in which rank 3 is late by so many ms, seen by ingest."""
    nodes[0].say(steps=[steps([0, 1], numbers, most=late)])
    nodes[1].say(steps=[steps([2, 3], numbers, slow={3: late})])
    until(lambda: turn(ingest, 1) or has_seen(ingest, attempt, numbers[-1]))


def has_seen(ingest, attempt, step: int) -> bool:
    """All four ranks of it."""
    return attempt.pk in ingest.held and ingest.held[attempt.pk].behind._seen == (step, 4 * NOW)


def test_the_watch_is_asked_once_by_the_first_steps_that_are_enough(attempt, nodes, ingest, redis_client) -> None:
    say(nodes, ingest, attempt, range(45))
    assert asked(redis_client) == []
    say(nodes, ingest, attempt, range(45, 48), late=40)
    assert asked(redis_client) == []
    say(nodes, ingest, attempt, range(48, 51), late=40)
    assert asked(redis_client) == [f"({attempt.pk},)"]
    attempt.refresh_from_db()
    assert attempt.last_step == 50  # what the look will read is there
    say(nodes, ingest, attempt, range(51, 58), late=40)
    assert len(asked(redis_client)) == 1


def test_the_look_that_was_asked_for_opens_the_incident(attempt, nodes, ingest, redis_client) -> None:
    say(nodes, ingest, attempt, range(45))
    say(nodes, ingest, attempt, range(45, 51), late=40)
    look_now(attempt.pk)
    row = Incident.objects.get()
    assert (row.kind, row.rank, row.cause, row.opened_step, row.seen_step) == ("straggler", 3, "backward", 45, 50)


def test_steps_of_the_warm_up_ask_for_nothing(attempt, nodes, ingest, redis_client) -> None:
    say(nodes, ingest, attempt, range(20), late=500)
    assert asked(redis_client) == []
