"""Orders to nodes: the row is the order, the stream only carries it."""

import logging
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests import builders
from tests.control.cluster import launch, node_of, part_of, placed, say
from trainer_agent.wire import codec, messages, names
from webapp.nodes import lifecycle as nodes
from webapp.nodes.models import Command, Node
from webapp.runs import lifecycle, secrets, wording
from webapp.runs.command_line import shown_command
from webapp.runs.models import Attempt
from workers import dispatch

pytestmark = pytest.mark.django_db
VALUE = "hunter2-very-secret"


def stream(client, node) -> list[messages.Command]:
    return [codec.decode_command(fields[b"b"]) for _id, fields in client.xrange(names.commands(node.uid))]


def age(**times) -> None:
    Command.objects.update(sent_at=timezone.now() - timedelta(**times))


def test_a_start_carries_all_that_a_node_needs(redis_client):
    attempt = placed(env={"A": "1"}, grace=7.0, argv=["/srv/train.py", "--lr", "0.1"])
    secrets.keep(attempt.run, {"TOKEN": VALUE})
    Node.objects.update(inventory={"addresses": ["192.168.1.9"]})
    dispatch.send_commands()
    second = part_of(attempt, 1)
    (start,) = stream(redis_client, second.node)
    assert isinstance(start, messages.StartAttempt)
    assert (start.attempt, start.run, start.node_rank, start.nnodes) == (attempt.pk, attempt.run.uid, 1, 2)
    assert (start.master_addr, start.master_port) == (attempt.master_addr, attempt.master_port)
    assert (start.argv, start.slots, start.grace) == (["/srv/train.py", "--lr", "0.1"], [0, 1], 7.0)
    assert start.env == {"A": "1", "TOKEN": VALUE}
    assert start.peers == {rank: [node_of(attempt, rank).address, "192.168.1.9"] for rank in (0, 1)}


def test_a_secret_is_in_no_row_no_event_and_no_log(redis_client, caplog):
    caplog.set_level(logging.DEBUG)
    builders.node()
    builders.node()
    run = launch(secrets={"TOKEN": VALUE})
    dispatch.sweep()
    attempt = run.attempts.get()
    part = part_of(attempt, 0)
    say(part, "refused", reason="spawn", detail=f"cannot use {VALUE}")
    say(part_of(attempt, 1), "rank_exited", 2, code=1, traceback=f"ValueError: bad token {VALUE}")
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            assert VALUE not in str([[bytes(c) if isinstance(c, memoryview) else c for c in row] for row in cursor])
    assert VALUE not in caplog.text
    assert run.spec["secret_names"] == ["TOKEN"]
    assert secrets.values_of(run) == {"TOKEN": VALUE}


def test_a_secret_leaves_redis_once_its_start_is_accepted(redis_client):
    attempt = placed()
    secrets.keep(attempt.run, {"TOKEN": VALUE})
    dispatch.sweep()
    first, second = part_of(attempt, 0), part_of(attempt, 1)
    say(first, "accepted")
    dispatch.sweep()
    assert stream(redis_client, first.node) == []
    (start,) = stream(redis_client, second.node)
    assert isinstance(start, messages.StartAttempt)
    say(second, "accepted")
    dispatch.sweep()
    lifecycle.request_stop(attempt.run, "ana")
    dispatch.send_commands()
    assert [type(one) for one in stream(redis_client, second.node)] == [messages.StopAttempt]


def test_a_secret_leaves_redis_with_the_node_that_never_read_it(redis_client):
    attempt = placed()
    secrets.keep(attempt.run, {"TOKEN": VALUE})
    dispatch.sweep()
    node = part_of(attempt, 0).node
    assert node is not None
    assert stream(redis_client, node)
    nodes.remove(node)
    assert stream(redis_client, node) == []


def test_a_secret_of_another_key_ends_the_run_with_a_sentence(redis_client, settings):
    builders.node()
    builders.node()
    run = launch(secrets={"TOKEN": VALUE})
    settings.SECRET_KEY = "another key"
    dispatch.sweep()
    attempt = run.attempts.get()
    assert attempt.reason == "secret_unreadable"
    assert "SECRET_KEY" in wording.outcome_sentence(attempt)


def test_a_command_that_cannot_be_built_stops_no_other(redis_client):
    bad, good = placed(), placed()
    bad.run.spec["env"] = {"A": 2**70}  # no message holds it
    bad.run.save()
    dispatch.send_commands()
    sent = {getattr(start, "attempt", None) for part in good.parts.all() for start in stream(redis_client, part.node)}
    assert sent == {good.pk}


def test_what_nobody_accepted_is_sent_again_until_it_is(redis_client):
    attempt = placed()
    dispatch.sweep()
    dispatch.sweep()
    part = part_of(attempt, 0)
    assert len(stream(redis_client, part.node)) == 1
    age(seconds=6)
    dispatch.sweep()
    first, second = stream(redis_client, part.node)
    assert first == second
    say(part, "accepted", command=first.id)
    age(seconds=6)
    dispatch.sweep()
    assert stream(redis_client, part.node) == []
    assert len(stream(redis_client, node_of(attempt, 1))) == 3


def test_a_node_that_cannot_be_reached_is_not_flooded(redis_client):
    attempt = placed()
    dispatch.sweep()
    node = node_of(attempt, 0)
    node.last_heard = timezone.now() - timedelta(minutes=1)
    node.save()
    age(seconds=6)
    dispatch.sweep()
    assert len(stream(redis_client, node)) == 1


def test_a_stop_is_accepted_by_stopping_or_finished(redis_client):
    attempt = placed()
    dispatch.sweep()
    assert lifecycle.request_stop(attempt.run, "ana")
    dispatch.sweep()
    _start, stop = stream(redis_client, node_of(attempt, 0))
    assert isinstance(stop, messages.StopAttempt)
    assert (stop.signal, stop.grace, stop.reason) == ("SIGTERM", 20.0, "user_stop")
    say(part_of(attempt, 0), "stopping", signal="SIGTERM", grace=20)
    say(part_of(attempt, 1), "finished", survivors=[], reason="user_stop")
    assert not Command.objects.filter(accepted_at=None).exists()


def test_ten_queued_runs_survive_an_emptied_redis(redis_client):
    for _node in range(2):
        builders.node(slots=10)
    runs = [launch(nodes=2, ranks_per_node=1) for _ in range(10)]
    redis_client.flushall()
    dispatch.sweep()
    assert {run.attempts.get().status for run in runs} == {"starting"}
    redis_client.flushall()
    age(seconds=6)
    dispatch.sweep()
    for node in {part.node for attempt in Attempt.objects.all() for part in attempt.parts.all()}:
        assert len(stream(redis_client, node)) == 10


def test_the_shown_command_is_what_a_person_would_type():
    text = shown_command(builders.spec(argv=["train.py", "--name", "two words"]))
    assert "--nnodes=2" in text
    assert text.endswith("train.py --name 'two words'")
