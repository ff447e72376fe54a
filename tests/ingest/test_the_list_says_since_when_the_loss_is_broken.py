import math

import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import steps, values

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_first_broken_step_is_in_the_row_and_health_is_left_to_incidents(attempt, nodes, ingest) -> None:
    broken = {n: 2.0 if n < 12 else math.nan for n in range(20)}
    nodes[0].say(steps=[steps([0, 1], range(20))], values=[values("loss", 0, broken)])
    turn(ingest)
    ingest._look_at = 0.0
    turn(ingest)
    for held in ingest.held.values():
        held._noted = 0.0
        held.note(1e9)
    attempt.run.refresh_from_db()
    assert (attempt.run.loss_text, attempt.run.loss_since, attempt.run.health) == ("NaN", 12, {})
