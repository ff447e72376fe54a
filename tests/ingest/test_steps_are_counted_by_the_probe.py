import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import steps, values
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_a_resumed_script_logs_before_its_first_step_ends_does_not_count_too(attempt, nodes, ingest):
    """Its own step 20 is the first of its process: the run is not at 20 + 20."""
    type(attempt).objects.update(first_step=20)
    nodes[0].say(values=[values("loss", 0, {20: 1.0})])
    until(lambda: turn(ingest, 1) or _counted(attempt) == (20, 20))
    nodes[0].say(steps=[steps([0, 1], range(5))])
    until(lambda: turn(ingest, 1) or _counted(attempt) == (24, 24))


def test_of_two_counts_the_processes_own_is_taken_also_when_it_is_behind(attempt, nodes, ingest):
    nodes[0].say(values=[values("loss", 0, {1_000: 1.0})])
    until(lambda: turn(ingest, 1) or _counted(attempt) == (1_000, 1_000))
    nodes[0].say(steps=[steps([0, 1], range(5))])
    until(lambda: turn(ingest, 1) or _counted(attempt) == (4, 4))


def _counted(attempt) -> tuple[int | None, int | None]:
    attempt.refresh_from_db()
    attempt.run.refresh_from_db()
    return attempt.last_step, attempt.run.last_step
