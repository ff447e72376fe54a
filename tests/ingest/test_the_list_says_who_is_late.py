import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import steps
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


def say(nodes, numbers, slow=None):
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        node.say(steps=[steps(ranks, numbers, slow=slow)])


def health(ingest, attempt):
    turn(ingest, 1)
    attempt.run.refresh_from_db()
    return attempt.run.health


def test_a_late_rank_is_in_the_row_and_goes_when_it_is_in_line_again(attempt, nodes, ingest):
    say(nodes, range(40), slow={3: 75})
    until(lambda: health(ingest, attempt) == {"kind": "straggler", "rank": 3, "slowdown": 1.0})
    say(nodes, range(40, 400))
    until(lambda: health(ingest, attempt) == {})
