import json
import time

import numpy as np
import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import samples, steps, values
from tests.waiting import until
from trainer_agent.wire import names
from trainer_agent.wire.messages import Event, LogBytes
from webapp.live import watched
from webapp.telemetry import charts
from workers.ingest.frames import EVERY_S
from workers.ingest.loop import Ingest

pytestmark = pytest.mark.django_db(transaction=True)


def frames(redis_client, attempt, kind: str) -> list[dict]:
    entries = redis_client.xrange(names.live(attempt.run.uid))
    found = [json.loads(fields[b"b"]) for _id, fields in entries]
    return [frame for frame in found if frame["kind"] == kind]


def panels(redis_client, attempt) -> list[dict]:
    return [frame["panels"] for frame in frames(redis_client, attempt, "panels")]


def drawn(redis_client, attempt, panel_id: str) -> list[int]:
    return [x for found in panels(redis_client, attempt) if panel_id in found for x in found[panel_id]["x"]]


def test_a_frame_holds_only_what_is_new_and_equals_the_page(attempt, nodes, ingest, redis_client):
    for step in range(6):
        nodes[0].say(steps=[steps([0, 1], [step])], values=[values("loss", 0, {step: 2.0 - step / 10})])
        nodes[1].say(
            steps=[steps([2, 3], [step], slow={3: 200})], samples=[samples("rank/cpu", 2, {100.0 + step: 50.0})]
        )
        until(lambda step=step: turn(ingest, 1) or step in drawn(redis_client, attempt, "step_time"))
    until(lambda: turn(ingest, 1) or 5 in drawn(redis_client, attempt, "value:loss"))
    for panel_id in ("step_time", "phases", "comm", "busbw", "heat:backward", "value:loss"):
        assert drawn(redis_client, attempt, panel_id) == [0, 1, 2, 3, 4, 5], panel_id
    page = charts.panel(attempt, "step_time")
    last = panels(redis_client, attempt)[-1]["step_time"]
    at = page["x"].index(last["x"][-1])
    assert {name: column[-1] for name, column in last["columns"].items()} == {
        name: column[at] for name, column in page["columns"].items()
    }
    assert last["finding"] == page["finding"]
    assert "device:rank/cpu" in panels(redis_client, attempt)[-1] or drawn(redis_client, attempt, "device:rank/cpu")


def test_a_step_waits_for_its_ranks_but_not_for_ever(attempt, nodes, ingest, redis_client):
    for step in range(3):
        for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
            node.say(steps=[steps(ranks, [step])])
    until(lambda: turn(ingest, 1) or drawn(redis_client, attempt, "step_time")[-1:] == [2])
    nodes[0].say(steps=[steps([0, 1], [3])])
    turn(ingest, 3)
    assert 3 not in drawn(redis_client, attempt, "step_time")
    began = time.monotonic()
    until(lambda: turn(ingest, 1) or 3 in drawn(redis_client, attempt, "step_time"))
    assert time.monotonic() - began > 1.0


def test_logs_that_grew_are_told(attempt, nodes, ingest, redis_client):
    nodes[0].say(logs=[LogBytes(rank=1, offset=0, data=b"hello\n", at=1e9)])
    turn(ingest)
    assert frames(redis_client, attempt, "log")[-1] == {"kind": "log", "attempt": 1, "ranks": {"1": 6}}


def test_frames_are_at_most_one_every_fifth_of_a_second(attempt, nodes, ingest, redis_client):
    began = time.monotonic()
    for step in range(30):
        for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
            node.say(steps=[steps(ranks, [step])])
        turn(ingest, 1)
    took = time.monotonic() - began
    assert len(panels(redis_client, attempt)) <= took / EVERY_S + 1


def test_a_frame_stays_small_with_many_ranks_and_keys(transactional_db, redis_client, ingest):
    from tests import builders
    from tests.ingest.node import FakeNode

    attempt = builders.running_attempt(nodes=2, ranks_per_node=64)
    watched.note(attempt.run.uid)
    for part in attempt.parts.all():
        ranks = range(part.node_rank * 64, part.node_rank * 64 + 64)
        keys = [values(f"key{k}", ranks[0], {1: 1.0}) for k in range(200)]
        FakeNode(redis_client, attempt, part).say(steps=[steps(ranks, range(5))], values=keys)
    until(lambda: turn(ingest, 1) or drawn(redis_client, attempt, "step_time")[-1:] == [4])
    biggest = max(len(json.dumps(found)) for found in panels(redis_client, attempt))
    assert biggest < 100_000
    assert len(panels(redis_client, attempt)[-1]["heat:local"]["rows"]) == 64


def test_a_process_that_starts_in_the_middle_goes_on_where_the_page_is(attempt, nodes, ingest, redis_client):
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        node.say(steps=[steps(ranks, range(700))], values=[values("loss", ranks[0], dict.fromkeys(range(700), 1.0))])
    turn(ingest, 3)
    type(attempt).objects.update(lease_until=None, lease_holder="")
    redis_client.delete(names.live(attempt.run.uid))
    other = Ingest()
    turn(other)
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        node.say(steps=[steps(ranks, [700])])
    until(lambda: turn(other, 1) or drawn(redis_client, attempt, "step_time") == [700])
    held = other.held[attempt.pk]
    assert held.window.series("phase/step").index[0] > 100
    assert held.summary.last_step == 700


def test_the_list_row_is_kept_up_to_date(attempt, nodes, ingest):
    nodes[0].say(
        steps=[steps([0, 1], range(100))],
        values=[values("accuracy", 0, {5: 0.5}), values("train/loss", 0, {k: 4.0 - k / 50 for k in range(100)})],
    )
    until(lambda: turn(ingest, 1) or type(attempt).objects.get(pk=attempt.pk).last_step == 99)
    run = type(attempt.run).objects.get(pk=attempt.run_id)
    assert (run.last_step, run.last_loss, run.loss_text) == (99, 4.0 - 99 / 50, "")
    assert run.steps_per_s == pytest.approx(12.5, rel=0.01)
    assert len(run.spark) == 40
    assert run.spark[0] == 4.0
    nodes[0].say(values=[values("train/loss", 0, {100: np.nan})])
    until(lambda: turn(ingest, 1) or type(run).objects.get(pk=run.pk).loss_text == "NaN")
    assert type(run).objects.get(pk=run.pk).spark[-1] is None


def test_frames_and_the_list_count_steps_as_the_script_does(attempt, nodes, ingest, redis_client):
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        facts = [Event(kind="rank_facts", at=1.0, rank=ranks[0], data={"resumed_at": 200})]
        node.say(events=facts, steps=[steps(ranks, range(5))])
    until(lambda: turn(ingest, 1) or drawn(redis_client, attempt, "step_time"))
    assert drawn(redis_client, attempt, "step_time") == drawn(redis_client, attempt, "heat:local") == [*range(200, 205)]
    until(lambda: turn(ingest, 1) or type(attempt).objects.get(pk=attempt.pk).last_step == 204)
    assert frames(redis_client, attempt, "resync")
    held = next(iter(ingest.held.values()))
    held.start()
    assert held.summary.fields(None)["last_step"] == 204


def holes(redis_client, attempt) -> list[list[tuple]]:
    found = [made["holes"]["holes"] for made in panels(redis_client, attempt) if "holes" in made]
    return [[(hole["from"], hole["to"], hole["ranks"]) for hole in told] for told in found]


def test_a_hole_is_told_live_and_closed_live(attempt, nodes, ingest, redis_client, monkeypatch):
    monkeypatch.setattr("workers.ingest.frames.HOLES_EVERY_S", 0.1)
    nodes[0].say(steps=[steps([0, 1], range(20))])
    nodes[1].say(steps=[steps([2, 3], range(10))])
    until(lambda: turn(ingest, 1) or drawn(redis_client, attempt, "step_time")[-1:] == [19])
    attempt.ranks.filter(rank__gte=2).update(made=20)
    until(lambda: turn(ingest, 1) or holes(redis_client, attempt)[-1:] == [[(10, 19, [2, 3])]])
    nodes[1].say(steps=[steps([2, 3], range(10, 20))])
    until(lambda: turn(ingest, 1) or holes(redis_client, attempt)[-1] == [])
    late = [found["step_time"] for found in panels(redis_client, attempt) if "step_time" in found][-1]
    assert late["x"] == list(range(10, 20))
    assert late["reduction"] == "min, median and max of 4 ranks"


def test_steps_that_come_too_late_for_a_frame_are_read_again(attempt, nodes, ingest, redis_client):
    nodes[0].say(steps=[steps([0, 1], range(1_000))])
    until(lambda: turn(ingest, 1) or drawn(redis_client, attempt, "step_time"))
    nodes[1].say(steps=[steps([2, 3], range(100, 200))], values=[values("eval", 2, {3: 1.0, 900: 2.0})])
    until(lambda: turn(ingest, 1) or len(frames(redis_client, attempt, "filled")) == 2)
    told = [(frame["attempt"], frame["from"], frame["to"]) for frame in frames(redis_client, attempt, "filled")]
    assert told == [(1, 0, 742), (1, 3, 199)]


def test_a_gap_in_front_of_new_steps_is_in_their_frame(attempt, nodes, ingest, redis_client):
    for numbers in (range(5), range(9, 12)):
        for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
            node.say(steps=[steps(ranks, numbers)])
        until(lambda last=numbers[-1]: turn(ingest, 1) or last in drawn(redis_client, attempt, "step_time"))
    for panel_id in ("step_time", "phases", "comm"):
        assert drawn(redis_client, attempt, panel_id) == [0, 1, 2, 3, 4, 5, 9, 10, 11], panel_id
