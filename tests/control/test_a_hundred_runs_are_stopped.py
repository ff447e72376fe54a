"""A hundred runs stopped in a row: orders to the nodes, and a worker that goes on as ever."""

import pytest
from django.utils import timezone

from tests import builders
from tests.control.cluster import launch, part_of, say
from tests.control.real_worker import own_redis, worker
from tests.waiting import until
from webapp.nodes.models import Command, Node
from webapp.runs import lifecycle
from webapp.runs.models import Attempt, Run

__all__ = ["own_redis", "worker"]  # fixtures

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]
RUNS = 100


def sent(kind: str) -> int:
    # No agent reports here, so that the node's silence is not what this is about.
    Node.objects.update(last_heard=timezone.now())
    return Command.objects.filter(kind=kind).exclude(sent_at=None).count()


@pytest.mark.timeout(180)
def test_each_stop_is_one_order_and_the_worker_places_the_next_run(own_redis, worker):
    builders.node(slots=RUNS)
    project = builders.project()
    runs = [launch(project, nodes=1, ranks_per_node=1) for _run in range(RUNS)]
    until(lambda: sent("start") == RUNS, timeout=60)
    for run in runs:
        lifecycle.request_stop(Run.objects.get(pk=run.pk), "ana")
    until(lambda: sent("stop") == RUNS, timeout=60)
    for attempt in Attempt.objects.all():
        say(part_of(attempt, 0), "finished", launcher_code=None, survivors=[], reason="stopped")
    ended = set(Run.objects.values_list("status", "outcome", "cause", "actor"))
    assert ended == {("ended", "stopped", "user", "ana")}
    assert Command.objects.filter(kind="stop").count() == RUNS

    launch(project, nodes=1, ranks_per_node=1)
    until(lambda: sent("start") == RUNS + 1, timeout=45)
    assert worker.poll() is None
