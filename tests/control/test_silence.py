"""Heartbeats, and what their absence means: unreachable is not dead."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import builders
from tests.control.cluster import beat, finish, launch, node_of, part_of, placed, running, say
from trainer_agent.wire import names
from trainer_agent.wire.messages import AttemptAlive
from webapp.nodes import heartbeats
from webapp.nodes.models import Command, Node, Slot
from webapp.runs import scheduler, wording
from webapp.runs.models import Attempt
from workers import dispatch, housekeeping, upkeep

pytestmark = pytest.mark.django_db


def pass_time(client, seconds: float, *silent: Node) -> None:
    """The server has watched for long; these nodes were last heard `seconds` ago."""
    client.set(names.watching(), timezone.now().timestamp() - 86400)
    for node in silent:
        Node.objects.filter(pk=node.pk).update(last_heard=timezone.now() - timedelta(seconds=seconds))


def test_a_heartbeat_becomes_a_row(redis_client):
    node = builders.node(slots=2)
    beat(redis_client, node, slots=3, clock_offset=0.25, clock_error=0.01, cpu=12.0, memory_used=5)
    now = timezone.now()
    assert heartbeats.read(now) == 1
    assert heartbeats.read(now + timedelta(seconds=1)) == 0  # the same one again is no new word
    node.refresh_from_db()
    assert (node.last_heard, node.clock_offset, node.vitals["cpu"]) == (now, 0.25, 12.0)
    assert node.slots.count() == 3


def test_slots_that_are_in_use_do_not_vanish(redis_client):
    attempt = placed(nodes=1, ranks_per_node=2)
    node = node_of(attempt, 0)
    beat(redis_client, node, attempt.pk, slots=1)
    heartbeats.read(timezone.now())
    assert node.slots.count() == 2
    Slot.objects.update(attempt=None)
    beat(redis_client, node, slots=1, at=timezone.now().timestamp() + 1)
    heartbeats.read(timezone.now())
    assert node.slots.count() == 1


def test_unreadable_and_foreign_heartbeats_are_left_out(redis_client):
    node, other = builders.node(), builders.node()
    redis_client.set(names.heartbeat(node.uid), b"\x00not a message")
    beat(redis_client, other)
    redis_client.rename(names.heartbeat(other.uid), names.heartbeat(node.uid))
    beat(redis_client, other)
    assert heartbeats.read(timezone.now()) == 1


def test_each_more_node_that_says_what_is_known_costs_one_write(redis_client):
    attempts = {count: running(nodes=count, ranks_per_node=2) for count in (2, 7)}
    asked = {}
    for count, attempt in attempts.items():
        for part in attempt.parts.all():
            ranks = attempt.ranks.filter(node_rank=part.node_rank).values_list("rank", flat=True)
            made, taken = dict.fromkeys(ranks, 9), dict.fromkeys(ranks, 8)
            told = AttemptAlive(attempt=attempt.pk, ranks=list(ranks), made=made, taken=taken)
            beat(redis_client, node_of(attempt, part.node_rank), told, slots=2)
        with CaptureQueriesContext(connection) as queries:
            assert heartbeats.read(timezone.now()) == count
        writes = [query["sql"] for query in queries if query["sql"].startswith("UPDATE")]
        asked[count] = len(queries) - len([sql for sql in writes if "runs_rankstate" in sql])
        assert set(attempt.ranks.values_list("made", "sent")) == {(9, 8)}
    assert asked[7] - asked[2] <= 5 + 1  # and the second attempt's time of life


def test_a_node_that_holds_what_nobody_gave_it_is_told_to_forget_it_among_others_that_agree(redis_client):
    attempt = running()
    first, second = node_of(attempt, 0), node_of(attempt, 1)
    beat(redis_client, first, attempt.pk)
    beat(redis_client, second, attempt.pk, attempt.pk + 1000)
    heartbeats.read(timezone.now())
    orders = Command.objects.filter(kind="forget").values_list("node", "attempt_key")
    assert list(orders) == [(second.pk, attempt.pk + 1000)]


def test_processes_live_as_far_as_every_node_says_so(redis_client):
    attempt = running()
    first, second = node_of(attempt, 0), node_of(attempt, 1)
    beat(redis_client, first, attempt.pk)
    early = timezone.now()
    heartbeats.read(early)
    attempt.refresh_from_db()
    assert attempt.process_at is None
    beat(redis_client, second, attempt.pk)
    heartbeats.read(early + timedelta(seconds=3))
    attempt.refresh_from_db()
    assert attempt.process_at == early


def test_a_node_unreachable_for_five_minutes_costs_no_run(redis_client):
    attempt = running()
    pass_time(redis_client, 300, node_of(attempt, 0))
    housekeeping.read_heartbeats()
    attempt.refresh_from_db()
    assert (attempt.status, attempt.outcome) == ("running", "")


def test_past_the_limit_the_attempt_is_lost_and_the_others_are_stopped(redis_client):
    attempt = running()
    gone, there = part_of(attempt, 0), part_of(attempt, 1)
    pass_time(redis_client, 700, node_of(attempt, 0))
    housekeeping.read_heartbeats()
    attempt.refresh_from_db()
    assert (attempt.status, attempt.outcome, attempt.cause, attempt.reason) == ("stopping", "lost", "node", "node_lost")
    assert gone.node_name in wording.outcome_sentence(attempt)
    say(there, "finished", survivors=[], reason="stopped")
    attempt.refresh_from_db()
    assert attempt.status == "ended"
    assert list(Slot.objects.exclude(attempt=None).values_list("node", flat=True)) == [gone.node_id] * 2


def test_slots_of_a_lost_node_come_back_only_when_it_is_there_without_the_attempt(redis_client):
    attempt = running(nodes=1)
    node = node_of(attempt, 0)
    pass_time(redis_client, 700, node)
    housekeeping.read_heartbeats()
    attempt.refresh_from_db()
    assert attempt.status == "ended"
    beat(redis_client, node, attempt.pk)
    housekeeping.read_heartbeats()
    dispatch.sweep()
    assert Slot.objects.filter(attempt=attempt).count() == 2
    assert redis_client.xlen(names.commands(node.uid)) >= 1  # the order to stop reaches it
    beat(redis_client, node, at=timezone.now().timestamp() + 2)
    housekeeping.read_heartbeats()
    beat(redis_client, node, at=timezone.now().timestamp() + 3)
    housekeeping.read_heartbeats()
    assert not Slot.objects.exclude(attempt=None).exists()
    assert not Command.objects.filter(accepted_at=None).exists()


def test_a_pause_of_the_server_itself_loses_nobody(redis_client):
    attempt = running()
    for part in attempt.parts.all():
        Node.objects.filter(uid=part.node_uid).update(last_heard=timezone.now() - timedelta(hours=5))
    housekeeping.read_heartbeats()
    attempt.refresh_from_db()
    assert attempt.status == "running"


def test_a_node_that_vanishes_before_the_start_costs_a_new_placement_only(redis_client):
    attempt = placed()
    dispatch.sweep()
    gone, there = node_of(attempt, 0), node_of(attempt, 1)
    say(part_of(attempt, 1), "accepted")
    spare = builders.node(slots=2)
    pass_time(redis_client, 17, gone)
    housekeeping.read_heartbeats()
    attempt.refresh_from_db()
    assert attempt.status == "queued"
    assert attempt.run.attempts.count() == 1
    dispatch.sweep()
    beat(redis_client, there, at=timezone.now().timestamp() + 2)
    housekeeping.read_heartbeats()
    dispatch.sweep()
    attempt.refresh_from_db()
    assert attempt.status == "starting"
    assert set(attempt.parts.values_list("node", flat=True)) == {there.pk, spare.pk}
    assert Slot.objects.filter(attempt=attempt, node=gone).count() == 2  # nobody knows yet what is there


def test_a_node_that_vanishes_while_others_have_launched_ends_the_attempt(redis_client):
    attempt = placed(retries=1)
    dispatch.sweep()
    say(part_of(attempt, 0), "launched", pid=1)
    pass_time(redis_client, 17, node_of(attempt, 1))
    housekeeping.read_heartbeats()
    attempt.refresh_from_db()
    assert (attempt.status, attempt.outcome, attempt.reason) == ("stopping", "lost", "node_vanished")
    say(part_of(attempt, 0), "finished", survivors=[])
    upkeep.retry_failed()
    assert Attempt.objects.get(number=2).status == "queued"


def test_a_flapping_node_is_tried_again_only_as_often_as_allowed(redis_client):
    attempt = placed(nodes=1, retries=2)
    for _round in range(5):
        newest = Attempt.objects.order_by("-number")[0]
        if newest.status == "ended":
            break
        finish(newest, code=1)
        upkeep.retry_failed()
        scheduler.place_queued()
    assert attempt.run.attempts.count() == 3


def test_a_node_that_forgot_what_it_launched_gives_it_up(redis_client):
    attempt = running(nodes=1)
    node = node_of(attempt, 0)
    start = timezone.now().timestamp()
    for later in (0, 20, 29):
        beat(redis_client, node, at=start + later)
        housekeeping.read_heartbeats()
        attempt.refresh_from_db()
        assert attempt.status == "running"
    beat(redis_client, node, at=start + 31)
    housekeeping.read_heartbeats()
    attempt.refresh_from_db()
    assert (attempt.status, attempt.outcome, attempt.cause) == ("ended", "lost", "agent")


def test_what_a_node_holds_and_nobody_knows_is_forgotten(redis_client):
    node = builders.node()
    for later in (0, 1):
        beat(redis_client, node, 4711, at=timezone.now().timestamp() + later)
        housekeeping.read_heartbeats()
    (command,) = Command.objects.all()
    assert (command.kind, command.attempt_key) == ("forget", 4711)


def test_a_node_that_drains_or_is_not_clean_gets_nothing_new_and_the_run_says_why(redis_client):
    builders.node("gpu-a", slots=4, draining=True)
    stuck = builders.node("gpu-b", slots=4)
    beat(redis_client, stuck, slots=4, dirty="slot 2 is held by python (pid 1234), 11.2 GB")
    heartbeats.read(timezone.now())
    run = launch(nodes=1)
    assert scheduler.place_queued() == 0
    said = "No node takes runs now. Not used: gpu-a (draining), gpu-b (not clean)."
    assert wording.waits_sentence(run.attempts.get()) == said
    beat(redis_client, stuck, slots=4, at=timezone.now().timestamp() + 2)
    heartbeats.read(timezone.now())
    assert scheduler.place_queued() == 1
