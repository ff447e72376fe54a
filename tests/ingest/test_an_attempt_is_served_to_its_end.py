from datetime import timedelta

import pytest
from django.utils import timezone

from tests.ingest.node import turn
from tests.telemetry.batches import steps, values
from tests.waiting import until
from trainer_agent.wire import names
from trainer_agent.wire.messages import Event
from webapp.runs import lifecycle
from webapp.runs.models import Attempt, Run, Status
from webapp.telemetry import read
from webapp.telemetry.models import Segment, Tail
from workers.ingest import orphans

pytestmark = pytest.mark.django_db(transaction=True)


def end(nodes) -> None:
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        for rank in ranks:
            node.say(events=[Event(kind="rank_exited", at=2e9, rank=rank, data={"code": 0, "signal": None})])
        finished: dict[str, object] = {"launcher_code": 0, "launcher_signal": None, "survivors": [], "reason": ""}
        node.say(events=[Event(kind="finished", at=2e9, data=finished)])


def test_after_the_end_everything_is_in_segments_and_nobody_serves_it(attempt, nodes, ingest):
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        node.say(steps=[steps(ranks, range(300))])
    end(nodes)
    until(lambda: turn(ingest, 1) or Attempt.objects.get(pk=attempt.pk).compacted)
    attempt.refresh_from_db()
    assert (attempt.status, attempt.outcome) == (Status.ENDED, "succeeded")
    assert (attempt.lease_holder, attempt.lease_until) == ("", None)
    assert ingest.held == {}
    assert not Tail.objects.exists()
    assert Segment.objects.exists()
    assert read.series(attempt, "phase/step").values.shape == (300, 4)


def test_streams_are_deleted_a_minute_after_the_end(attempt, nodes, ingest, redis_client):
    end(nodes)
    until(lambda: turn(ingest, 1) or Attempt.objects.get(pk=attempt.pk).compacted)
    orphans.sweep(redis_client)
    assert nodes[0].acked == nodes[0].seq
    Attempt.objects.update(ended_at=timezone.now() - timedelta(seconds=61))
    orphans.sweep(redis_client)
    assert redis_client.keys("pl:tel:*") == []
    assert nodes[0].acked == 0


def test_a_lost_node_that_comes_back_is_heard_after_the_end(attempt, nodes, ingest, redis_client):
    nodes[0].say(values=[values("loss", 0, {1: 1.0})])
    turn(ingest)
    Attempt.objects.update(status=Status.ENDED, ended_at=timezone.now())
    attempt.parts.update(lost_at=timezone.now())
    until(lambda: turn(ingest, 1) or Attempt.objects.get(pk=attempt.pk).compacted)
    nodes[0].say(values=[values("loss", 0, {2: 2.0})])
    orphans.sweep(redis_client)
    until(lambda: turn(ingest, 1) or nodes[0].acked == 2)
    until(lambda: turn(ingest, 1) or Attempt.objects.get(pk=attempt.pk).compacted)
    assert read.series(attempt, "loss").index.tolist() == [1, 2]


def test_a_run_that_is_deleted_while_it_streams_stops_nobody(attempt, nodes, ingest, redis_client):
    from tests import builders
    from tests.ingest.node import FakeNode

    other = builders.running_attempt()
    theirs = FakeNode(redis_client, other, other.parts.get(node_rank=0))
    nodes[0].say(steps=[steps([0, 1], range(10))])
    theirs.say(values=[values("loss", 0, {1: 1.0})])
    turn(ingest)
    lifecycle.delete(attempt.run, "ana")
    nodes[0].say(steps=[steps([0, 1], range(10, 20))])
    turn(ingest)
    Run.objects.filter(pk=attempt.run_id).delete()
    nodes[0].say(steps=[steps([0, 1], range(20, 30))])
    theirs.say(values=[values("loss", 0, {2: 2.0})])
    turn(ingest, 3)
    assert attempt.pk not in ingest.held
    assert theirs.acked == 2
    orphans.sweep(redis_client)
    assert redis_client.exists(nodes[0].stream) == 0


def test_a_new_attempt_is_found_at_once_when_somebody_wakes_us(attempt, nodes, ingest, redis_client):
    turn(ingest)
    ingest._look_at = 1e12
    from tests import builders

    late = builders.running_attempt()
    redis_client.xadd(names.wake_ingest(), {"b": b""})
    turn(ingest, 3)
    assert late.pk in ingest.held
