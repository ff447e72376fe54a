import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.server import REPO, database_url
from tests.telemetry.batches import steps, values
from tests.waiting import until
from trainer_agent.wire.messages import LogBytes
from webapp.runs.models import Attempt
from webapp.telemetry import logs, read

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def process() -> Iterator[subprocess.Popen]:
    """A real `python -m workers.ingest` on the test's database and Redis."""
    # The product's settings: those of the tests would choose another Redis.
    environment = {**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    child = subprocess.Popen([sys.executable, "-m", "workers.ingest"], cwd=REPO, env=environment)
    try:
        yield child
    finally:
        child.kill()
        child.wait(10)


def fill(nodes, first: int, count: int) -> None:
    for k in range(first, first + count):
        for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
            node.make(
                steps=[steps(ranks, [k])],
                values=[values("loss", ranks[0], {k: float(k)})],
                logs=[LogBytes(rank=ranks[0], offset=5 * k, data=b"%04d\n" % k, at=1e9)],
            )


def test_kill_minus_nine_between_batches_neither_loses_nor_doubles(attempt, nodes):
    with process() as first:
        fill(nodes, 0, 40)
        for node in nodes:
            node.send()
        until(lambda: nodes[0].acked >= 5, 40)
        first.send_signal(signal.SIGKILL)
        first.wait(10)
    fill(nodes, 40, 40)
    with process() as second:
        until(lambda: resend(nodes) or all(node.acked == 80 for node in nodes), 60)
        assert read.series(attempt, "phase/step").values.shape == (80, 4)
        assert read.series(attempt, "phase/step").present.all()
        assert b"".join(logs.raw(attempt, 2)) == b"".join(b"%04d\n" % k for k in range(80))
        second.send_signal(signal.SIGTERM)
        assert second.wait(15) == 0
    assert Attempt.objects.get(pk=attempt.pk).lease_holder == ""


def resend(nodes) -> None:
    """As the agent does when nothing is acknowledged for a while."""
    for node in nodes:
        if not node.left and node.acked < 80:
            node.send()
