"""Twenty launches at once on four slots: never more than fit, and in order."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from tests import builders
from tests.control.cluster import finish
from webapp.nodes.models import Slot
from webapp.projects.models import Role
from webapp.runs import lifecycle, scheduler
from webapp.runs.models import Attempt, AttemptNode

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]
LAUNCHES = 20


def in_threads(count, act):
    """Run `act(i)` in threads that begin together, each with a database connection of its own."""
    gate = Barrier(count)

    def go(i):
        gate.wait(30)
        try:
            return act(i)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(go, range(count)))


def never_overbooked() -> list[int]:
    """Attempts that hold slots now, after a look at who holds what."""
    live = Attempt.objects.filter(status__in=("starting", "running"))
    for attempt in live:
        assert Slot.objects.filter(attempt=attempt).count() == attempt.world_size
    claims = [(p.node_id, i) for p in AttemptNode.objects.filter(attempt__in=live, finished_at=None) for i in p.slots]
    assert len(claims) == len(set(claims)) <= 4
    return list(live.order_by("pk").values_list("pk", flat=True))


def test_twenty_launches_at_once_on_four_slots_never_overbook_and_start_in_order():
    for _node in range(2):
        builders.node(slots=2, last_heard=timezone.now() + timedelta(hours=1))
    project = builders.project("storm", ana=Role.EDITOR)
    owner = project.members.get()
    sizes = [(1, 1), (2, 2), (1, 2), (2, 1)]

    def submit(i):
        nodes, ranks = sizes[i % 4]
        spec = builders.spec(nodes=nodes, ranks_per_node=ranks)
        lifecycle.create(project=project, owner=owner, name=f"run {i}", spec=spec, secrets={})
        scheduler.place_queued()

    in_threads(LAUNCHES, submit)
    started: list[int] = []
    while Attempt.objects.exclude(status="ended").exists():
        live = never_overbooked()
        assert live
        started += [attempt for attempt in live if attempt not in started]
        waiting = Attempt.objects.filter(status="queued")
        assert all(attempt.waits_for["reason"] in ("slots", "behind") for attempt in waiting)
        finish(Attempt.objects.get(pk=live[0]))
        in_threads(4, lambda _i: scheduler.place_queued())
    assert started == sorted(started)
    assert len(started) == LAUNCHES
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"succeeded"}
