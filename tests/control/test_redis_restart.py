"""A real Celery worker and beat outlive restarts of their Redis: the next run is placed without anybody's help."""

import pytest

from tests import builders
from tests.control.cluster import launch
from tests.control.real_worker import own_redis, worker
from tests.waiting import until
from webapp.nodes.models import Node

__all__ = ["own_redis", "worker"]  # fixtures

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]
RESTARTS = 5


@pytest.mark.timeout(180)
def test_the_worker_places_the_next_run_after_each_restart_of_redis(own_redis, worker):
    builders.node(slots=20)
    for restarted in range(RESTARTS + 1):
        if restarted:
            own_redis.stop()
            own_redis.start()
        run = launch(nodes=1, ranks_per_node=1)

        def is_placed(run=run):
            # No agent reports here, so that the node's silence is not what this is about.
            Node.objects.update(last_heard=run.created_at.now(tz=run.created_at.tzinfo))
            return run.attempts.get().status == "starting" and run.attempts.get().commands.get().sent_at

        until(is_placed, timeout=45)
        assert worker.poll() is None
