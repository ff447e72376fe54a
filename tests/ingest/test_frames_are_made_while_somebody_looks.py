import json

import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import steps, values
from tests.waiting import until
from trainer_agent.wire import names
from webapp import live
from webapp.live import watched
from workers.ingest.loop import Ingest

pytestmark = pytest.mark.django_db(transaction=True)


def published(redis_client, attempt, after: str = "-") -> list[dict]:
    begin = f"({after}" if after != "-" else after
    return [json.loads(fields[b"b"]) for _id, fields in redis_client.xrange(names.live(attempt.run.uid), min=begin)]


def drawn(frames: list[dict], panel_id: str) -> list[int]:
    found = [frame["panels"].get(panel_id, {"x": []}) for frame in frames if frame["kind"] == "panels"]
    return [x for panel in found for x in panel["x"]]


def say(nodes, numbers) -> None:
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        node.say(steps=[steps(ranks, numbers)], values=[values("loss", ranks[0], dict.fromkeys(numbers, 1.0))])


def looks(ingest) -> None:
    """The loop's look, once a second, now."""
    ingest._look_at = 0.0
    turn(ingest, 1)


def test_nobody_looks_and_no_panel_is_made_but_whoever_comes_misses_nothing(attempt, nodes, ingest, redis_client):
    redis_client.delete(names.watched(attempt.run.uid))
    looks(ingest)
    say(nodes, range(5))
    until(lambda: turn(ingest, 1) or all(node.left == 0 for node in nodes))
    assert not drawn(published(redis_client, attempt), "step_time")
    cursor = live.cursor(attempt.run.uid)  # a page opens
    say(nodes, range(5, 8))
    until(lambda: turn(ingest, 1) or 7 in drawn(published(redis_client, attempt, cursor), "step_time"))
    found = published(redis_client, attempt, cursor)
    assert set(drawn(found, "step_time")) >= {5, 6, 7}
    assert set(drawn(found, "value:loss")) >= {5, 6, 7}
    assert "resync" not in [frame["kind"] for frame in found]


def test_a_page_that_was_away_for_long_is_told_to_read_all_again(attempt, nodes, ingest, redis_client):
    say(nodes, range(3))
    until(lambda: turn(ingest, 1) or drawn(published(redis_client, attempt), "step_time")[-1:] == [2])
    cursor = live.cursor(attempt.run.uid)
    redis_client.delete(names.watched(attempt.run.uid))
    looks(ingest)
    say(nodes, range(3, 6))
    turn(ingest)
    assert [frame["kind"] for frame in published(redis_client, attempt, cursor)][-1] == "resync"
    looks(ingest)
    assert [frame["kind"] for frame in published(redis_client, attempt, cursor)].count("resync") == 1


def test_what_nobody_looked_at_is_not_remembered_for_long(attempt, nodes, ingest, redis_client):
    redis_client.delete(names.watched(attempt.run.uid))
    looks(ingest)
    say(nodes, range(40))
    turn(ingest)
    window = ingest.held[attempt.pk].window
    assert window.waiting()
    ingest.held[attempt.pk].frames.watch(1e12, is_watched=False)
    assert not window.waiting()


def test_pages_read_again_what_a_killed_process_stored_and_did_not_publish(attempt, nodes, ingest, redis_client):
    say(nodes, range(3))
    until(lambda: turn(ingest, 1) or drawn(published(redis_client, attempt), "step_time")[-1:] == [2])
    cursor = live.cursor(attempt.run.uid)
    type(attempt).objects.update(lease_until=None, lease_holder="")
    other = Ingest()
    turn(other)
    assert [frame["kind"] for frame in published(redis_client, attempt, cursor)] == ["resync"]
    other._client.close()


def test_a_page_and_its_stream_say_that_somebody_looks(attempt, redis_client):
    redis_client.delete(names.watched(attempt.run.uid))
    assert watched.which([attempt.run.uid, "r-other"]) == set()
    live.cursor(attempt.run.uid)
    assert watched.which([attempt.run.uid, "r-other"]) == {attempt.run.uid}
    assert 0 < redis_client.ttl(names.watched(attempt.run.uid)) <= watched.KEPT_S
