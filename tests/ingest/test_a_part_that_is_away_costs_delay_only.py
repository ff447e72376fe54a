import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis
from django.db import OperationalError, connection, transaction

from tests.ingest.node import turn
from tests.telemetry.batches import values
from tests.waiting import until
from webapp.runs.models import Attempt
from webapp.telemetry import read

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def somebody_else_writes(attempt: Attempt) -> Iterator[None]:
    """The attempt's row, or the whole database, is locked by another connection."""
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Attempt.objects.filter(pk=attempt.pk).update(master_port=1)
            locked.set()
            done.wait(20)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait(10)
    try:
        yield
    finally:
        done.set()
        thread.join(20)


def be_impatient() -> None:
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout=50" if sqlite else "SET lock_timeout = '50ms'")


def test_a_locked_database_acknowledges_nothing_and_loses_nothing(attempt, nodes, ingest):
    turn(ingest)
    nodes[0].say(values=[values("loss", 0, {1: 1.0})])
    be_impatient()
    with somebody_else_writes(attempt), pytest.raises(OperationalError):
        turn(ingest)
    assert (nodes[0].acked, nodes[0].left) == (0, 1)
    turn(ingest)
    assert nodes[0].acked == 1
    assert read.series(attempt, "loss").index.tolist() == [1]
    connection.close()


def test_a_cut_connection_to_redis_is_made_anew(attempt, nodes, ingest, redis_client):
    turn(ingest)
    nodes[0].say(values=[values("loss", 0, {1: 1.0})])
    redis_client.client_kill_filter(_type="normal", skipme=True)

    def once_more() -> bool:
        with contextlib.suppress(redis.RedisError):
            turn(ingest, 1)
        return bool(nodes[0].acked == 1)

    until(once_more)
    assert nodes[0].left == 0
    assert read.series(attempt, "loss").index.tolist() == [1]
