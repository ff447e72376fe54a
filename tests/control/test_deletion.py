"""A run deleted in any state: gone from sight at once, its rows a day later, when no node holds anything of it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.control.cluster import beat, finish, launch, node_of, part_of, running, say
from trainer_agent.wire import names
from webapp.nodes.models import Command, Slot
from webapp.runs import lifecycle
from webapp.runs.models import Run
from webapp.telemetry.models import LogChunk, Metric, Segment, Tail
from workers import dispatch, housekeeping

pytestmark = pytest.mark.django_db


def a_day_later(run):
    Run.objects.filter(pk=run.pk).update(deleted_at=timezone.now() - timedelta(hours=25))


def test_a_running_run_is_removed_once_every_node_says_it_is_gone(redis_client):
    attempt = running()
    first, second = part_of(attempt, 0), part_of(attempt, 1)
    Tail.objects.bulk_create(Tail(attempt=attempt, node_rank=0, seq=k, payload=b"x") for k in range(1, 1200))
    metric = Metric.objects.create(attempt=attempt, name="loss", axis="step", columns="rank", dtype="f8")
    Segment.objects.create(metric=metric, level=0, block=0, rows=1, payload=b"x")
    LogChunk.objects.create(attempt=attempt, rank=0, offset=0, length=1, lines=1, at=timezone.now(), payload=b"x")
    redis_client.xadd(names.telemetry(attempt.pk, first.node_uid), {"b": b"x"})
    lifecycle.delete(attempt.run, "ana")
    lifecycle.delete(attempt.run, "bob")
    a_day_later(attempt.run)
    dispatch.sweep()
    assert Slot.objects.filter(attempt=attempt).count() == 4
    housekeeping.read_heartbeats()
    dispatch.send_commands()
    for node in (node_of(attempt, 0), node_of(attempt, 1)):
        beat(redis_client, node, attempt.pk, at=timezone.now().timestamp() + 2)
    housekeeping.read_heartbeats()
    say(second, "rank_exited", 2, code=None, signal=9)  # what was under way is tolerated
    assert Slot.objects.filter(attempt=attempt).count() == 4
    beat(redis_client, node_of(attempt, 0), at=timezone.now().timestamp() + 3)
    housekeeping.read_heartbeats()
    assert Run.objects.filter(pk=attempt.run_id).exists()
    beat(redis_client, node_of(attempt, 1), at=timezone.now().timestamp() + 3)
    housekeeping.read_heartbeats()
    assert not Run.objects.exists()
    assert not Slot.objects.exclude(attempt=None).exists()
    assert not Command.objects.filter(accepted_at=None).exists()
    assert not redis_client.exists(names.telemetry(attempt.pk, first.node_uid))


def test_an_ended_run_goes_a_day_later_and_its_nodes_are_told(redis_client):
    attempt = running()
    finish(attempt)
    lifecycle.delete(attempt.run, "ana")
    housekeeping.read_heartbeats()
    assert Run.objects.exists()
    assert not Command.objects.filter(kind="forget").exists()
    a_day_later(attempt.run)
    housekeeping.read_heartbeats()
    assert not Run.objects.exists()
    assert [(command.kind, command.attempt) for command in Command.objects.all()] == [("forget", None)] * 2
    dispatch.send_commands()
    assert not Command.objects.filter(sent_at=None).exists()


def test_a_queued_run_goes_a_day_later(redis_client):
    run = launch()
    lifecycle.delete(run, "ana")
    a_day_later(run)
    housekeeping.read_heartbeats()
    assert not Run.objects.exists()


def test_a_deletion_is_undone_and_what_was_stopped_stays_stopped(redis_client):
    run = launch()
    lifecycle.delete(run, "ana")
    housekeeping.read_heartbeats()
    assert lifecycle.restore(run, "ana")
    assert not lifecycle.restore(run, "ana")
    run.refresh_from_db()
    assert (run.deleted_at, run.status, run.outcome) == (None, "ended", "stopped")
    assert [event.kind for event in run.events.all()][-2:] == ["deleted", "restored"]
