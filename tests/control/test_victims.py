"""Ranks that only lost a peer decide nothing: the culprit's word, or its node's silence, may still come."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.control.cluster import beat, finish, node_of, part_of, placed, running, say, stopped
from tests.control.test_causes import CLOSED
from tests.control.test_lifecycle import state
from tests.control.test_silence import pass_time
from trainer_agent.wire import names
from webapp.nodes.models import Command, Node, Slot
from webapp.runs import lifecycle, wording
from webapp.runs.models import Attempt
from workers import dispatch, housekeeping, upkeep

pytestmark = pytest.mark.django_db


def lose_peer(attempt: Attempt, **moment: float) -> None:
    """Rank 0 says that another has gone."""
    say(part_of(attempt, 0), "rank_exited", 0, code=1, signal=None, traceback=CLOSED, **moment)


@pytest.mark.usefixtures("redis_client")
def test_the_culprits_word_decides_although_its_victims_was_faster():
    attempt = running()
    now = time.time()
    lose_peer(attempt, at=now)
    assert state(attempt) == ("stopping", "", "", "")
    assert Command.objects.filter(attempt=attempt, kind="stop").count() == 2
    say(part_of(attempt, 1), "rank_exited", 3, at=now - 0.1, code=None, signal=9)
    assert state(attempt) == ("stopping", "failed", "code", "killed_by_signal")
    finish(attempt, code=1)
    assert state(attempt) == ("ended", "failed", "code", "killed_by_signal")


@pytest.mark.usefixtures("redis_client")
def test_where_nobody_failed_on_its_own_it_was_the_network_between_the_nodes():
    attempt = running()
    lose_peer(attempt)
    say(part_of(attempt, 1), "rank_exited", 2, at=time.time() + 5, code=None, signal=9)  # our own stop
    lifecycle.request_stop(attempt.run, "ana")
    stopped(attempt)
    assert state(attempt) == ("ended", "failed", "network", "peer_gone")
    assert "lost its connection" in wording.outcome_sentence(attempt)


@pytest.mark.usefixtures("redis_client")
def test_a_holder_that_vanished_is_the_cause_of_what_its_ranks_peers_say():
    attempt = running()
    lose_peer(attempt)
    say(part_of(attempt, 1), "finished", launcher_code=None, survivors=[], reason="shim_lost")
    assert state(attempt) == ("stopping", "lost", "agent", "shim_lost")


def test_a_node_that_is_pulled_is_the_cause_and_its_run_is_tried_again_from_its_checkpoint(redis_client):
    attempt = running(retries=1)
    gone, there = part_of(attempt, 1), part_of(attempt, 0)
    lose_peer(attempt)
    say(there, "rank_exited", 1, code=1, signal=None, traceback=CLOSED)
    say(there, "finished", launcher_code=1, survivors=[], reason="peer_failed")
    pass_time(redis_client, 10, node_of(attempt, 1))
    housekeeping.read_heartbeats()
    assert state(attempt) == ("stopping", "", "", "")
    pass_time(redis_client, 16, node_of(attempt, 1))
    housekeeping.read_heartbeats()
    assert state(attempt) == ("ended", "lost", "node", "node_silent")
    assert gone.node_name in wording.outcome_sentence(attempt)
    assert set(Slot.objects.exclude(attempt=None).values_list("node", flat=True)) == {gone.node_id}
    upkeep.retry_failed()
    assert Attempt.objects.get(run=attempt.run, number=2).status == "queued"


def test_a_rank_that_fails_ends_the_attempt_although_another_node_is_silent(redis_client):
    attempt = running()
    silent = node_of(attempt, 1)
    pass_time(redis_client, 60, silent)
    housekeeping.read_heartbeats()
    assert state(attempt)[0] == "running"  # unreachable is not dead
    say(part_of(attempt, 0), "rank_exited", 0, code=1, signal=None, traceback="KeyError: 'x'")
    say(part_of(attempt, 0), "finished", launcher_code=1, survivors=[], reason="rank_exit")
    housekeeping.read_heartbeats()
    assert state(attempt) == ("ended", "failed", "code", "rank_exit")
    assert Slot.objects.filter(attempt=attempt, node=silent).count() == 2
    # It comes back with the attempt, is told to stop it, and its slots are free once it holds nothing.
    moment = timezone.now().timestamp()
    beat(redis_client, silent, attempt.pk, at=moment)
    housekeeping.read_heartbeats()
    dispatch.sweep()
    assert redis_client.xlen(names.commands(silent.uid)) >= 1
    assert Slot.objects.filter(attempt=attempt).count() == 2
    say(part_of(attempt, 1), "finished", launcher_code=0, survivors=[], reason="rank_exit")
    beat(redis_client, silent, at=moment + 2)
    housekeeping.read_heartbeats()
    assert not Slot.objects.exclude(attempt=None).exists()
    assert state(attempt) == ("ended", "failed", "code", "rank_exit")


def test_a_person_who_stops_waits_for_proof_from_a_silent_node(redis_client):
    attempt = running()
    lifecycle.request_stop(attempt.run, "ana")
    say(part_of(attempt, 0), "finished", launcher_code=0, survivors=[], reason="user_stop")
    pass_time(redis_client, 60, node_of(attempt, 1))
    housekeeping.read_heartbeats()
    assert state(attempt) == ("stopping", "stopped", "user", "user_stop")
    pass_time(redis_client, 700, node_of(attempt, 1))
    housekeeping.read_heartbeats()
    assert state(attempt) == ("ended", "stopped", "user", "user_stop")


def test_the_limit_for_lost_nodes_is_the_projects_own(redis_client):
    attempt = running()
    attempt.run.project.lost_node_limit_s = 45
    attempt.run.project.save()
    pass_time(redis_client, 40, node_of(attempt, 0))
    housekeeping.read_heartbeats()
    assert state(attempt)[0] == "running"
    pass_time(redis_client, 46, node_of(attempt, 0))
    housekeeping.read_heartbeats()
    assert state(attempt) == ("stopping", "lost", "node", "node_lost")


def unanswered(client, attempt: Attempt) -> None:
    """Its start orders were sent long ago, and every node has been heard ever since."""
    pass_time(client, 0)
    dispatch.sweep()
    Command.objects.update(created_at=timezone.now() - timedelta(seconds=61))
    Node.objects.update(last_heard=timezone.now())


def test_a_start_that_a_living_node_does_not_take_is_placed_elsewhere(redis_client):
    attempt = placed(nodes=1)
    unanswered(redis_client, attempt)
    housekeeping.read_heartbeats()
    assert state(attempt)[0] == "queued"
    event = attempt.events.get(kind="not_accepted")
    assert "did not take the order to start for 60 s" in wording.event_text(event)


def test_a_start_that_one_node_took_and_another_did_not_ends_with_that_reason(redis_client):
    attempt = placed()
    unanswered(redis_client, attempt)
    say(part_of(attempt, 0), "accepted")
    say(part_of(attempt, 0), "launched", pid=1)
    housekeeping.read_heartbeats()
    assert state(attempt) == ("stopping", "lost", "agent", "start_unanswered")
    assert "did not take the order" in wording.outcome_sentence(attempt)


def test_a_start_whose_answer_is_on_its_way_is_waited_for(redis_client):
    attempt = placed(nodes=1)
    unanswered(redis_client, attempt)
    beat(redis_client, node_of(attempt, 0), attempt.pk)
    housekeeping.read_heartbeats()
    assert state(attempt)[0] == "starting"


@pytest.mark.usefixtures("redis_client")
def test_a_signal_to_all_processes_is_a_stop_by_the_node_although_a_rank_was_told_first():
    attempt = running(nodes=1)
    part = part_of(attempt, 0)
    say(part, "rank_exited", 0, code=None, signal=15)
    assert state(attempt) == ("stopping", "", "", "")
    say(part, "stopping", signal="SIGTERM", grace=5, reason="shim_signalled")
    assert state(attempt) == ("stopping", "stopped", "node", "node_signal")
    stopped(attempt)
    assert state(attempt) == ("ended", "stopped", "node", "node_signal")
    assert attempt.actor == part.node_name
