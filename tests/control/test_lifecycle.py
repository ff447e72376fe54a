"""Every transition of docs/lifecycle.md, and every refusal."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.control.cluster import finish, launch, part_of, placed, running, say
from webapp.nodes.models import Command, Node, Slot
from webapp.runs import lifecycle, scheduler, wording
from webapp.runs.models import Attempt, Run
from workers import housekeeping, upkeep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


def kinds(attempt: Attempt) -> list[str]:
    return list(attempt.events.values_list("kind", flat=True))


def state(attempt: Attempt) -> tuple[str, str, str, str]:
    """The attempt's, which the run must share."""
    attempt.refresh_from_db()
    run = Run.objects.get(pk=attempt.run_id)
    mine = (attempt.status, attempt.outcome, attempt.cause, attempt.reason)
    assert (run.status, run.outcome, run.cause, run.reason) == mine
    assert (run.detail, run.actor, run.started_at, run.ended_at) == (
        attempt.detail,
        attempt.actor,
        attempt.started_at,
        attempt.ended_at,
    )
    return mine


def test_a_new_run_is_queued_with_its_first_attempt():
    run = launch()
    attempt = run.attempts.get()
    assert (attempt.number, run.attempt_count, attempt.world_size) == (1, 1, 4)
    assert state(attempt) == ("queued", "", "", "")
    assert kinds(attempt) == ["created"]


def test_placement_claims_slots_and_orders_a_start_on_every_node():
    attempt = placed()
    assert state(attempt)[0] == "starting"
    assert Slot.objects.filter(attempt=attempt).count() == 4
    assert Command.objects.filter(attempt=attempt, kind="start").count() == 2
    assert [(r.rank, r.node_rank, r.local_rank) for r in attempt.ranks.all()] == [
        (0, 0, 0),
        (1, 0, 1),
        (2, 1, 0),
        (3, 1, 1),
    ]


def test_it_runs_once_all_ranks_live_and_succeeds_once_all_ended_with_zero():
    attempt = running()
    assert state(attempt)[0] == "running"
    assert attempt.started_at is not None
    finish(attempt)
    assert state(attempt) == ("ended", "succeeded", "", "")
    assert attempt.ended_at is not None
    assert not Slot.objects.exclude(attempt=None).exists()
    assert kinds(attempt)[-2:] == ["ended", "incident_opened"]  # it made no step


def test_one_node_that_is_done_waits_for_the_others():
    attempt = running()
    first = part_of(attempt, 0)
    for rank in (0, 1):
        say(first, "rank_exited", rank, code=0, signal=None)
    say(first, "finished", launcher_code=0, survivors=[])
    assert state(attempt)[:2] == ("running", "")
    assert Slot.objects.filter(attempt=attempt).count() == 2


def test_the_first_failing_rank_stops_all_and_is_named():
    attempt = running()
    say(part_of(attempt, 1), "rank_exited", 3, code=1, signal=None, traceback="Traceback …\nValueError: no such thing")
    assert state(attempt) == ("stopping", "failed", "code", "rank_exit")
    name = part_of(attempt, 1).node_name
    assert attempt.detail == {"rank": 3, "node": name, "code": 1, "signal": None, "text": "ValueError: no such thing"}
    assert Command.objects.filter(attempt=attempt, kind="stop").count() == 2
    finish(attempt, code=1)
    assert state(attempt) == ("ended", "failed", "code", "rank_exit")
    assert attempt.detail["rank"] == 3


def test_an_earlier_exit_that_arrives_later_names_the_right_rank():
    attempt = running()
    now = time.time()
    say(part_of(attempt, 0), "rank_exited", 0, at=now, code=None, signal=11)
    assert (state(attempt)[3], attempt.detail["rank"]) == ("killed_by_signal", 0)
    say(part_of(attempt, 1), "rank_exited", 2, at=now - 0.3, code=1, signal=None, traceback="ModuleNotFoundError: No x")
    assert state(attempt) == ("stopping", "failed", "code", "import_error")
    assert attempt.detail["rank"] == 2
    say(part_of(attempt, 1), "rank_exited", 3, at=now + 5, code=1, signal=None, traceback="KeyError: 1")
    state(attempt)
    assert attempt.detail["rank"] == 2


def test_times_of_two_nodes_are_compared_on_the_servers_clock():
    attempt = running()
    behind = part_of(attempt, 1)
    Node.objects.filter(uid=behind.node_uid).update(clock_offset=60.0)  # its clock is a minute behind the server's
    now = time.time()
    say(part_of(attempt, 0), "rank_exited", 0, at=now, code=3, signal=None, traceback="A: first")
    say(behind, "rank_exited", 2, at=now - 60 + 0.1, code=4, signal=None, traceback="B: second")
    state(attempt)
    assert attempt.detail["rank"] == 0


def test_a_rank_that_our_stop_kills_does_not_change_the_outcome():
    attempt = running()
    assert lifecycle.request_stop(attempt.run, "ana")
    assert state(attempt) == ("stopping", "stopped", "user", "user_stop")
    say(part_of(attempt, 0), "rank_exited", 0, code=None, signal=15)
    say(part_of(attempt, 0), "rank_exited", 1, code=1, signal=None, traceback="RuntimeError: x")
    finish(attempt, code=1)
    assert state(attempt) == ("ended", "stopped", "user", "user_stop")
    assert attempt.actor == "ana"


def test_a_second_stop_is_harmless_and_keeps_the_first_actor():
    attempt = running()
    assert lifecycle.request_stop(attempt.run, "ana")
    assert not lifecycle.request_stop(attempt.run, "bob")
    state(attempt)
    assert attempt.actor == "ana"
    assert Command.objects.filter(attempt=attempt, kind="stop").count() == 2
    finish(attempt)
    assert not lifecycle.request_stop(attempt.run, "bob")


def test_a_hundred_stops_order_one_stop_per_node():
    attempt = running()
    assert [lifecycle.request_stop(attempt.run, "ana") for _ in range(100)].count(True) == 1
    assert Command.objects.filter(attempt=attempt, kind="stop").count() == 2


def test_a_queued_run_that_is_stopped_ends_at_once():
    run = launch()
    assert lifecycle.request_stop(run, "ana")
    assert state(run.attempts.get()) == ("ended", "stopped", "user", "user_stop")
    assert scheduler.place_queued() == 0


def test_a_start_that_was_never_sent_is_taken_back_by_a_stop():
    attempt = placed()
    assert lifecycle.request_stop(attempt.run, "ana")
    assert state(attempt)[:2] == ("ended", "stopped")
    assert not Command.objects.filter(accepted_at=None).exists()
    assert not Slot.objects.exclude(attempt=None).exists()


@pytest.mark.parametrize(
    ("reason", "cause"), [("no_script", "code"), ("no_workdir", "code"), ("git", "code"), ("spawn", "node")]
)
def test_a_refused_start_fails_with_its_reason(reason, cause):
    attempt = placed()
    Command.objects.update(sent_at=timezone.now())
    say(part_of(attempt, 1), "refused", reason=reason, detail="/srv/train.py is not there")
    assert state(attempt) == ("stopping", "failed", cause, reason)
    assert attempt.detail["text"] == "/srv/train.py is not there"
    say(part_of(attempt, 0), "finished", reason="refused", survivors=[])
    say(part_of(attempt, 1), "finished", reason="refused", survivors=[])
    assert state(attempt)[0] == "ended"


def test_a_port_in_use_is_moved_twice_and_then_fails():
    attempt = placed()
    ports = []
    for _try in range(2):
        Command.objects.update(sent_at=timezone.now())
        say(part_of(attempt, 0), "refused", reason="port_in_use", detail="")
        assert state(attempt)[0] == "starting"
        ports.append(attempt.master_port)
        assert Command.objects.filter(attempt=attempt, kind="start", accepted_at=None).count() == 2
    assert len(set(ports)) == 2
    say(part_of(attempt, 0), "refused", reason="port_in_use", detail="")
    assert state(attempt)[1:] == ("failed", "node", "port_in_use")


def test_two_attempts_on_one_address_get_different_ports():
    first, second = placed(), placed()
    assert first.master_addr == second.master_addr
    assert first.master_port != second.master_port


def test_a_launcher_that_ends_before_any_rank_started_is_a_failure():
    attempt = placed(nodes=1)
    Command.objects.update(sent_at=timezone.now())
    say(
        part_of(attempt, 0),
        "finished",
        launcher_code=1,
        survivors=[],
        reason="exited",
        detail="a\nno torch",
    )
    assert state(attempt) == ("ended", "failed", "code", "launcher_exit")
    assert attempt.detail["text"] == "no torch"


def test_a_lost_shim_is_the_agents_fault_and_a_restarted_node_the_nodes():
    lost, restarted = running(), running()
    say(part_of(lost, 0), "finished", launcher_code=None, survivors=[], reason="shim_lost")
    say(part_of(restarted, 0), "finished", launcher_code=None, survivors=[], reason="node_rebooted")
    assert state(lost)[1:] == ("lost", "agent", "shim_lost")
    assert state(restarted)[1:] == ("lost", "node", "node_restarted")


def test_ended_with_zero_by_the_launcher_is_no_success_when_a_rank_left_no_word():
    attempt = running(nodes=1)
    say(part_of(attempt, 0), "rank_exited", 0, code=0, signal=None)
    say(part_of(attempt, 0), "finished", launcher_code=0, survivors=[], reason="exited")
    assert state(attempt) == ("ended", "failed", "code", "no_exit_record")
    assert attempt.detail["rank"] == 1


def test_the_time_limit_stops_with_cause_limit():
    attempt = running(timeout=60)
    housekeeping.enforce_limits(timezone.now())
    assert state(attempt)[0] == "running"
    housekeeping.enforce_limits(timezone.now() + timedelta(seconds=61))
    assert state(attempt) == ("stopping", "stopped", "limit", "time_limit")
    assert attempt.actor == "time limit"


def test_a_node_that_stops_for_the_limit_or_a_signal_from_outside_says_so():
    limit, outside = running(), running()
    say(part_of(limit, 0), "stopping", signal="SIGTERM", grace=5, reason="limit")
    say(part_of(outside, 0), "stopping", signal="SIGTERM", grace=5, reason="shim_signalled")
    assert state(limit)[1:] == ("stopped", "limit", "time_limit")
    assert state(outside)[1:] == ("stopped", "node", "node_signal")


def test_a_failed_run_is_tried_again_up_to_its_limit():
    attempt = running(retries=1)
    finish(attempt, code=1)
    upkeep.retry_failed()
    upkeep.retry_failed()
    assert list(attempt.run.attempts.values_list("number", "status")) == [(1, "ended"), (2, "queued")]
    second = attempt.run.attempts.get(number=2)
    assert state(second) == ("queued", "", "", "")
    assert scheduler.place_queued() == 1
    finish(second, code=1)
    upkeep.retry_failed()
    assert attempt.run.attempts.count() == 2


@pytest.mark.parametrize("ending", ["stopped", "succeeded", "stopped while failing"])
def test_what_succeeded_or_was_stopped_is_not_tried_again(ending):
    attempt = running(retries=3)
    if ending == "stopped while failing":
        say(part_of(attempt, 0), "rank_exited", 0, code=1, signal=None)
    if ending != "succeeded":
        lifecycle.request_stop(attempt.run, "ana")
    finish(attempt)
    upkeep.retry_failed()
    assert attempt.run.attempts.count() == 1


def test_restart_makes_a_new_attempt_of_an_ended_run_only():
    attempt = running()
    with pytest.raises(lifecycle.WrongState, match="Stop it first"):
        lifecycle.restart(attempt.run, "ana")
    finish(attempt)
    again = lifecycle.restart(Run.objects.get(pk=attempt.run_id), "ana")
    assert (again.number, state(again)[0]) == (2, "queued")
    attempt.refresh_from_db()
    assert attempt.outcome == "succeeded"


def test_late_events_of_an_older_attempt_leave_the_run_alone():
    attempt = running()
    finish(attempt, code=1)
    again = lifecycle.restart(Run.objects.get(pk=attempt.run_id), "ana")
    say(part_of(attempt, 0), "rank_exited", 0, code=9, signal=None)
    say(part_of(attempt, 0), "finished", launcher_code=1, survivors=[])
    assert state(again) == ("queued", "", "", "")


def test_unknown_kinds_wrong_ranks_and_odd_data_are_no_error():
    attempt = running()
    part = part_of(attempt, 0)
    say(part, "sang", 0, tune="la")
    say(part, "rank_exited", 77, code=1)
    say(part, "rank_exited", 3, code=1)  # a rank of the other node
    say(part, "rank_facts", 1, total_steps="many")
    say(part, "dropped", 0, what=None, count="x")
    say(part, "rank_facts", 0, at=float("1e300"), total_steps=40)
    assert state(attempt)[0] == "running"
    assert Run.objects.get(pk=attempt.run_id).total_steps == 40


def test_two_processes_that_claim_one_rank_are_told_once():
    attempt = running()
    for facts in ({"claims": [41, 42]}, {"torch": "2"}, {"claims": [41, 42]}, {"claims": "x"}):
        say(part_of(attempt, 0), "rank_facts", 1, **facts)
    event = attempt.run.events.get(kind="rank_claimed_twice")
    text = wording.event_text(event)
    assert "rank 1: 41, 42" in text
    assert (event.level, event.rank) == ("crit", 1)


def test_dropped_data_and_survivors_are_counted_and_shown():
    attempt = running(nodes=1)
    for _ in range(2):
        say(part_of(attempt, 0), "dropped", 1, what="log bytes", count=5, reason="too fast")
    assert attempt.ranks.get(rank=1).dropped == {"log bytes": 10}
    say(part_of(attempt, 0), "finished", launcher_code=1, survivors=[{"pid": 5}], reason="exited")
    assert "survivors" in kinds(attempt)
    assert kinds(attempt).count("dropped") == 2
