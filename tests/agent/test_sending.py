"""Spool to Redis and back, with a Redis that is away, emptied, or slow to acknowledge."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.conftest import free_port, redis_server_binary
from tests.waiting import until
from trainer_agent.agent.segment import Segment
from trainer_agent.agent.sender import RESEND_AFTER, WINDOW, Flight, Sender
from trainer_agent.agent.spool import Spool
from trainer_agent.wire import names


def bodies(client: redis.Redis) -> list[bytes]:
    entries: Any = client.xrange(names.telemetry(7, "n"))
    return [fields[b"b"] for _, fields in entries]


def filled(folder: Path, count: int) -> Spool:
    spool = Spool(folder)
    for seq in range(1, count + 1):
        spool.append(seq, b"%d" % seq, {})
    return spool


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_redis_that_comes_late_gets_everything_in_order(tmp_path: Path, stop: threading.Event):
    port = free_port()
    spool = filled(tmp_path / "spool", 10)
    sender = Sender(f"redis://127.0.0.1:{port}", "n", lambda: {7: spool})
    thread = threading.Thread(target=sender.run, args=(stop,))
    thread.start()
    spool.append(11, b"11", {})
    command = [redis_server_binary(), "--port", str(port), "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(port=port) as client:
            until(lambda: sender.connected, 15)
            until(lambda: len(bodies(client)) == 11)
            assert bodies(client) == [b"%d" % seq for seq in range(1, 12)]
            client.hset(names.acks("n"), "7", "11")
            until(lambda: spool.unacked == 0)
    finally:
        stop.set()
        thread.join()
        server.terminate()
        server.wait()


def test_no_more_than_the_window_is_under_way(tmp_path: Path, redis_client: redis.Redis, redis_server: str):
    spool = filled(tmp_path, WINDOW + 20)
    sender = Sender(redis_server, "n", lambda: {7: spool})
    sender.flush()
    sender.flush()
    assert len(bodies(redis_client)) == WINDOW
    redis_client.hset(names.acks("n"), "7", "10")
    sender.flush()
    assert len(bodies(redis_client)) == WINDOW + 10
    assert spool.acked == 10


def test_silence_sends_everything_again_and_ever_more_rarely():
    flight = Flight(sent=0, progress_at=0.0)
    assert flight.room(acked=0, now=0.0) == WINDOW
    flight.sent = 30
    assert flight.room(0, RESEND_AFTER - 0.1) == WINDOW - 30
    assert flight.room(0, RESEND_AFTER + 0.1) == WINDOW
    assert flight.sent == 0
    flight.sent = 30
    assert flight.room(0, 2 * RESEND_AFTER + 0.2) == WINDOW - 30
    flight.acknowledged(30, before=0, now=12.0)
    assert flight.patience == RESEND_AFTER


def test_an_acknowledgement_that_is_no_number_or_gone_is_waited_out(
    tmp_path: Path, redis_client: redis.Redis, redis_server: str
):
    spool = filled(tmp_path, 3)
    sender = Sender(redis_server, "n", lambda: {7: spool})
    redis_client.hset(names.acks("n"), "7", "nonsense")
    sender.flush()
    assert spool.unacked == 3
    redis_client.flushall()
    sender.flush()
    assert spool.unacked == 3


def test_a_spool_that_a_bad_disk_cannot_hold_keeps_no_other_from_being_sent(
    tmp_path: Path, redis_client: redis.Redis, redis_server: str, monkeypatch: pytest.MonkeyPatch
):
    bad, good = filled(tmp_path / "bad", 3), filled(tmp_path / "good", 2)
    sync = Segment.sync

    def fail(segment: Segment) -> None:
        if segment.path.parent.name == "bad":
            raise OSError(5, "Input/output error")
        sync(segment)

    monkeypatch.setattr(Segment, "sync", fail)
    Sender(redis_server, "n", lambda: {6: bad, 7: good}).flush()
    assert bodies(redis_client) == [b"1", b"2"]
    assert redis_client.xlen(names.telemetry(6, "n")) == 0
