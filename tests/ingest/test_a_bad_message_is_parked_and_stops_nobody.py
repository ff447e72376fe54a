import msgspec
import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import batch, steps, values
from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import Event, LogBytes, ValueColumns
from webapp.telemetry import read
from webapp.telemetry.models import Parked, Tail

pytestmark = pytest.mark.django_db(transaction=True)


def good(step: int) -> dict:
    return {"values": [values("loss", 0, {step: float(step)})]}


BAD = {
    "columns of the wrong length": {"values": [ValueColumns(key="k", n=3, rank=b"", step=b"", time=b"", value=b"")]},
    "a rank of another node": {"steps": [steps([2], [1])]},
    "a rank that nobody has": {"values": [values("loss", 77, {1: 1.0})]},
    "a log of another node": {"logs": [LogBytes(rank=3, offset=0, data=b"x", at=1.0)]},
    "a step beyond all bounds": {"values": [values("loss", 0, {2**62: 1.0})]},
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_content_that_cannot_be_stored_takes_its_place_and_the_others_go_on(attempt, nodes, ingest, content):
    node = nodes[0]
    node.say(**good(1))
    node.say(**content)
    node.say(**good(3))
    turn(ingest)
    assert node.acked == 3
    assert Parked.objects.get().seq == 2
    assert read.series(attempt, "loss").index.tolist() == [1, 3]


def test_garbage_between_two_messages_takes_the_place_between_them(attempt, nodes, ingest, redis_client):
    node = nodes[0]
    node.say(**good(1))
    node.spool[2], node.seq = b"\xc1 this is no message", 2
    node.send(2)
    node.say(**good(3))
    turn(ingest)
    assert node.acked == 3
    assert read.series(attempt, "loss").index.tolist() == [1, 3]
    redis_client.xadd(node.stream, {names.FIELD: node.spool[2]})
    turn(ingest)
    assert Parked.objects.count() == 1


def test_garbage_alone_is_parked_once_however_often_it_comes(attempt, nodes, ingest, redis_client):
    for _k in range(5):
        redis_client.xadd(nodes[0].stream, {"b": b"\x28\xb5\x2f\xfd broken zstd"})
        redis_client.xadd(nodes[0].stream, {"other field": b"x"})
        turn(ingest, 1)
    assert Parked.objects.count() == 2
    assert nodes[0].left == 0
    nodes[0].say(**good(1))
    turn(ingest)
    assert nodes[0].acked == 1


@pytest.mark.parametrize("change", [{"v": 99}, {"values": "no list"}, {"node": "n-other"}])
def test_an_unreadable_message_whose_number_can_be_read_is_passed(attempt, nodes, ingest, change):
    node = nodes[0]
    content = msgspec.to_builtins(batch(attempt.pk, node.uid, 1))
    node.spool[1], node.seq = msgspec.msgpack.encode({"type": "batch", **content, **change}), 1
    node.send(1)
    node.say(**good(2))
    turn(ingest)
    assert node.acked == 2
    assert Parked.objects.get().seq == 1


def test_an_event_that_cannot_be_applied_does_not_stop_what_came_with_it(attempt, nodes, ingest, monkeypatch):
    from workers.ingest import apply

    def refuse(part, event):
        if event.kind == "explode":
            raise KeyError("explode")

    monkeypatch.setattr(apply, "apply_event", refuse)
    node = nodes[0]
    node.say(**good(1))
    node.say(events=[Event(kind="explode", at=1.0)])
    node.say(**good(3))
    turn(ingest)
    assert node.acked == 3
    assert "explode" in Parked.objects.get().reason
    assert Tail.objects.count() == 2


def test_what_is_kept_of_a_huge_message_is_its_beginning(attempt, nodes, ingest, redis_client):
    redis_client.xadd(nodes[0].stream, {"b": b"\xc1" * 1_000_000})
    turn(ingest)
    row = Parked.objects.get()
    assert (row.size, len(row.payload)) == (1_000_000, 65_536)


def test_bytes_that_would_inflate_without_bound_are_refused():
    with pytest.raises(codec.BadMessage):
        codec.inflated(b"\x28\xb5\x2f\xfd" + b"\xff" * 30)
