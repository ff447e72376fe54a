import random

import numpy as np
import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import steps, values
from trainer_agent.wire import names
from trainer_agent.wire.messages import LogBytes
from webapp.runs.models import AttemptNode
from webapp.telemetry import bundle, logs, read
from webapp.telemetry.models import LogChunk, Tail

pytestmark = pytest.mark.django_db(transaction=True)


def applied(attempt) -> list[int]:
    return list(AttemptNode.objects.filter(attempt=attempt).order_by("node_rank").values_list("applied_seq", flat=True))


def kept() -> int:
    """Messages in the rows of young data."""
    return sum(len(bundle.messages(bytes(tail.payload))) for tail in Tail.objects.all())


def test_messages_are_stored_acknowledged_and_taken_off_the_stream(attempt, nodes, ingest, redis_client):
    for k in range(5):
        nodes[0].say(steps=[steps([0, 1], [k])])
        nodes[1].say(steps=[steps([2, 3], [k])])
    turn(ingest)
    assert applied(attempt) == [5, 5]
    assert [node.acked for node in nodes] == [5, 5]
    assert [node.left for node in nodes] == [0, 0]
    assert int(redis_client.get(names.points_stored())) >= 2 * 5 * 2  # at least one metric of each record
    found = read.series(attempt, "phase/step")
    assert found.values.shape == (5, 4)
    assert found.present.all()


def test_duplicates_in_any_order_change_nothing_and_are_acknowledged_again(attempt, nodes, ingest, redis_client):
    node = nodes[0]
    for k in range(20):
        node.make(values=[values("loss", 0, {k: float(k)})], logs=[LogBytes(rank=0, offset=2 * k, data=b"x\n", at=1.0)])
    order = [*node.spool] * 3
    random.Random(7).shuffle(order)
    node.send(*order)
    turn(ingest, 6)
    assert node.acked == applied(attempt)[0] <= 20
    node.send()
    turn(ingest)
    assert node.acked == 20
    redis_client.flushall()
    node.send(3, 20)
    turn(ingest)
    assert node.acked == 20
    assert kept() == 20
    assert read.series(attempt, "loss").values[:, 0].tolist() == [float(k) for k in range(20)]
    assert b"".join(logs.raw(attempt, 0)) == b"x\n" * 20


def test_what_lies_behind_a_gap_waits_until_it_is_sent_again(attempt, nodes, ingest):
    node = nodes[0]
    for k in range(4):
        node.make(values=[values("loss", 0, {k: float(k)})])
    node.send(1, 3, 4)
    turn(ingest)
    assert (node.acked, node.left) == (1, 0)
    node.send()
    turn(ingest)
    assert node.acked == 4
    assert read.series(attempt, "loss").index.tolist() == [0, 1, 2, 3]


def test_an_emptied_redis_costs_delay_never_data(attempt, nodes, ingest, redis_client):
    for k in range(10):
        nodes[0].say(values=[values("loss", 0, {k: float(k)})])
        if k == 4:
            turn(ingest)
        if k == 7:
            redis_client.flushall()
    nodes[0].send()
    turn(ingest)
    assert nodes[0].acked == 10
    assert read.series(attempt, "loss").index.tolist() == list(range(10))


def test_two_processes_share_the_work_and_never_both_write(attempt, nodes, ingest):
    from workers.ingest.loop import Ingest

    other = Ingest()
    for k in range(6):
        nodes[0].say(values=[values("loss", 0, {k: float(k)})])
        turn(ingest, 1)
        turn(other, 1)
    assert len(ingest.held) + len(other.held) == 1
    assert kept() == 6
    assert nodes[0].acked == 6


def test_a_process_that_lost_its_lease_writes_nothing_and_lets_go(attempt, nodes, ingest):
    turn(ingest)
    type(attempt).objects.filter(pk=attempt.pk).update(lease_holder="another", lease_fence=99)
    nodes[0].say(values=[values("loss", 0, {1: 1.0})])
    turn(ingest, 1)
    assert ingest.held == {}
    assert (nodes[0].acked, nodes[0].left, Tail.objects.count()) == (0, 1, 0)


def test_log_bytes_are_kept_exactly_whatever_they_are(attempt, nodes, ingest):
    data = bytes(range(256)) * 400 + b"y" * 10 * 1024 * 1024 + b"\n\xff\xfe end"
    for at in range(0, len(data), 512 * 1024):
        nodes[1].say(logs=[LogBytes(rank=3, offset=at, data=data[at : at + 512 * 1024], at=1e9)])
    turn(ingest, 3)
    assert b"".join(logs.raw(attempt, 3)) == data
    assert attempt.ranks.get(rank=3).log_bytes == len(data)


def test_the_launchers_of_two_nodes_do_not_overwrite_each_other(attempt, nodes, ingest):
    for k, node in enumerate(nodes):
        node.say(logs=[LogBytes(rank=-1, offset=0, data=b"launcher %d\n" % k, at=1e9)])
    turn(ingest)
    assert LogChunk.objects.count() == 2
    assert b"".join(logs.raw(attempt, logs.launcher(1))) == b"launcher 1\n"


def test_numbers_are_the_same_before_and_after_compaction(attempt, nodes, ingest):
    for k in range(50):
        nodes[0].say(steps=[steps([0, 1], range(k * 10, k * 10 + 10), slow={1: k})])
        nodes[1].say(steps=[steps([2, 3], range(k * 10, k * 10 + 10))])
    turn(ingest, 4)
    found = read.series(attempt, "phase/backward")
    assert kept() < 100
    assert found.index.tolist() == list(range(500))
    assert np.array_equal(found.values[:, 1], np.rint(50_000 + 1000 * (np.arange(500) // 10)) / 1e6)
