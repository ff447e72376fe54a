"""What other tools get wrong about a run's end: who ended it, why, and whether it may go on."""

from typing import Any

import pytest
from django.utils import timezone

from tests import builders
from tests.control.cluster import beat, finish, launch, node_of, part_of, placed, running, say, stopped
from tests.control.test_lifecycle import state
from tests.control.test_silence import pass_time
from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import StartAttempt
from webapp.nodes.lifecycle import set_draining
from webapp.nodes.models import Command, Node
from webapp.runs import lifecycle, scheduler, wording
from webapp.runs.models import Attempt, RunEvent
from workers import dispatch, housekeeping, upkeep

pytestmark = pytest.mark.django_db


def stop_as_user(attempt: Attempt, _client: Any) -> None:
    lifecycle.request_stop(attempt.run, "ana")


def stop_by_limit(attempt: Attempt, _client: Any) -> None:
    lifecycle.expire(attempt)


def stop_from_outside(attempt: Attempt, _client: Any) -> None:
    say(part_of(attempt, 0), "stopping", signal="SIGTERM", grace=5, reason="shim_signalled")


def lose_node(attempt: Attempt, client: Any) -> None:
    pass_time(client, 700, node_of(attempt, 0))
    housekeeping.read_heartbeats()


def reboot_node(attempt: Attempt, _client: Any) -> None:
    say(part_of(attempt, 0), "finished", launcher_code=None, survivors=[], reason="node_rebooted")


def fail_rank(attempt: Attempt, _client: Any) -> None:
    say(part_of(attempt, 0), "rank_exited", 1, code=1, signal=None, traceback="ValueError: x")


WAYS = [
    (stop_as_user, "stopped", "user", "ana"),
    (stop_by_limit, "stopped", "limit", "time limit"),
    (stop_from_outside, "stopped", "node", "the node"),
    (lose_node, "lost", "node", "heartbeat watch"),
    (reboot_node, "lost", "node", "the node"),
    (fail_rank, "failed", "code", ""),
]


@pytest.mark.parametrize(("way", "outcome", "cause", "actor"), WAYS, ids=[way[0].__name__ for way in WAYS])
def test_every_end_has_a_time_a_cause_a_sentence_and_who_did_it(redis_client, way, outcome, cause, actor):
    attempt = running(nodes=1, timeout=60, retries=1)
    name = part_of(attempt, 0).node_name
    way(attempt, redis_client)
    stopped(attempt)
    assert state(attempt)[:3] == ("ended", outcome, cause)
    assert attempt.actor == (name if actor == "the node" else actor)
    assert attempt.ended_at is not None
    assert wording.outcome_sentence(attempt)
    event = RunEvent.objects.get(attempt=attempt, kind=outcome)
    assert (event.actor, event.data["cause"], event.data["reason"]) == (attempt.actor, cause, attempt.reason)
    upkeep.retry_failed()
    assert (attempt.run.attempts.count() == 2) is (outcome != "stopped")  # a restarted machine is worth another try


def test_data_that_stays_away_is_no_crash_while_the_processes_live(redis_client):
    attempt = running(nodes=1)
    node = node_of(attempt, 0)
    start = timezone.now().timestamp()
    for later in range(0, 120, 30):
        beat(redis_client, node, attempt.pk, at=start + later)
        housekeeping.read_heartbeats()
    assert state(attempt)[:2] == ("running", "")
    assert attempt.process_at is not None
    assert attempt.telemetry_at is None


def test_a_failed_rank_costs_the_whole_gang_and_the_next_attempt_starts_on_all_nodes_with_the_same_run(redis_client):
    attempt = running(retries=1)
    say(part_of(attempt, 1), "rank_exited", 3, code=None, signal=9)
    assert Command.objects.filter(attempt=attempt, kind="stop").count() == 2
    finish(attempt, code=1)
    upkeep.retry_failed()
    dispatch.sweep()
    second = Attempt.objects.get(run=attempt.run, number=2)
    sent = []
    for part in second.parts.all():
        raw = redis_client.xrevrange(names.commands(part.node_uid), count=1)[0][1][names.FIELD.encode()]
        sent.append(codec.decode_command(raw))
    starts = [command for command in sent if isinstance(command, StartAttempt)]
    assert len(starts) == 2
    assert {start.run for start in starts} == {attempt.run.uid}  # it names the folder of checkpoints
    assert [start.attempt_number for start in starts] == [2, 2]


def test_ten_queued_runs_all_start_after_redis_was_emptied(redis_client):
    runs = [launch(nodes=1, ranks_per_node=1) for _ in range(10)]
    builders.node(slots=10)
    redis_client.flushall()
    dispatch.sweep()
    assert {run.attempts.get().status for run in runs} == {"starting"}
    assert not Command.objects.filter(sent_at=None).exists()


def test_a_node_finishes_its_run_while_it_drains_and_gets_no_new_one(redis_client):
    attempt = running(nodes=1)
    set_draining(node_of(attempt, 0), draining=True)
    waiting = launch(nodes=1)
    finish(attempt)
    assert state(attempt)[:2] == ("ended", "succeeded")
    assert scheduler.place_queued() == 0
    set_draining(Node.objects.get(), draining=False)
    assert scheduler.place_queued() == 1
    assert waiting.attempts.get().status == "starting"


def test_the_stop_signal_and_the_grace_period_are_the_runs_own(redis_client):
    attempt = running(nodes=1, grace=33, stop_signal="SIGUSR1")
    lifecycle.request_stop(attempt.run, "ana")
    order = Command.objects.get(attempt=attempt, kind="stop")
    assert (order.arguments["signal"], order.arguments["grace"]) == ("SIGUSR1", 33)


def test_one_rank_that_raises_is_enough_for_a_failure_even_if_the_launcher_says_zero(redis_client):
    attempt = placed(nodes=1)
    part = part_of(attempt, 0)
    say(part, "rank_exited", 0, code=0, signal=None)
    say(part, "rank_exited", 1, code=1, signal=None, traceback="ValueError: x")
    say(part, "finished", launcher_code=0, survivors=[], reason="exited")
    assert state(attempt) == ("ended", "failed", "code", "rank_exit")
    assert attempt.detail["rank"] == 1
