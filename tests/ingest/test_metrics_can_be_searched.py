"""What each logged metric came to is kept in a row of its own, so that no list reads stored points."""

import math

import numpy as np
import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import steps, values
from webapp.history.models import MetricValue
from webapp.runs.models import Attempt
from webapp.telemetry.points import Points
from workers.ingest.loop import Ingest

pytestmark = pytest.mark.django_db(transaction=True)


def rows(attempt) -> dict[str, tuple[int, float | None, float | None, float | None]]:
    found = MetricValue.objects.filter(run=attempt.run).select_related("key")
    return {row.key.name: (row.step, row.last, row.low, row.high) for row in found}


def write(ingest: Ingest) -> None:
    turn(ingest)
    ingest._look_at = 0.0
    turn(ingest)
    for held in ingest.held.values():
        held._noted = held.metric_values._written = 0.0
        held.note(1e9)


def test_the_last_the_lowest_and_the_highest_value_by_the_lowest_rank(attempt, nodes, ingest) -> None:
    nodes[0].say(
        steps=[steps([0, 1], range(5))],
        values=[
            values("loss", 0, {0: 3.0, 1: 1.0, 2: 2.0}),
            values("loss", 1, {3: 9.0}),
            values("bad", 0, {0: math.nan}),
        ],
    )
    write(ingest)
    assert rows(attempt) == {"loss": (2, 2.0, 1.0, 3.0), "bad": (0, None, None, None)}
    nodes[0].say(values=[values("loss", 0, {3: math.inf})])
    write(ingest)
    assert rows(attempt)["loss"] == (3, None, 1.0, 3.0)


def test_what_was_stored_but_not_written_is_read_again_after_a_restart(attempt, nodes, ingest) -> None:
    nodes[0].say(values=[values("loss", 0, {n: 5.0 - n for n in range(5)})])
    turn(ingest)
    MetricValue.objects.all().delete()
    for held in ingest.held.values():
        again = type(held.metric_values)(Attempt.objects.select_related("run").get(pk=attempt.pk))
        again.fill()
        again.write(1e9)
    assert rows(attempt) == {"loss": (4, 1.0, 1.0, 5.0)}


def test_a_new_attempt_says_what_it_came_to_and_keeps_the_extremes(attempt, nodes, ingest) -> None:
    nodes[0].say(values=[values("loss", 0, {n: 5.0 - n for n in range(5)})])
    write(ingest)
    newer = Attempt.objects.create(run=attempt.run, number=2, world_size=4)
    newer.run.attempt_count = 2
    values_of = type(next(iter(ingest.held.values())).metric_values)(newer)
    values_of.fill()
    values_of.add([Points("loss", "step", "rank", "f8", np.array([0]), np.array([1]), np.array([7.0]))])
    values_of.write(1e9)
    assert rows(attempt) == {"loss": (1, 7.0, 1.0, 7.0)}
