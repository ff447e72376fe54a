"""Readers never meet writers: pages that are open, many jobs at once, many keys in any order."""

import random
import threading

import pytest
from django.db import connection

from tests import builders
from tests.ingest.node import FakeNode, turn
from tests.telemetry.batches import steps, values
from tests.waiting import until
from webapp.projects.models import Project
from webapp.runs.models import Attempt, Status
from webapp.telemetry import charts, read
from webapp.telemetry.models import Metric, Parked
from workers.ingest.loop import Ingest

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_open_page_and_eight_fast_ranks_do_not_hinder_each_other(transactional_db, redis_client, ingest: Ingest):
    attempt = builders.running_attempt(nodes=2, ranks_per_node=4)
    nodes = [FakeNode(redis_client, attempt, part) for part in attempt.parts.all()]
    failed: list[Exception] = []
    reads: list[int] = []
    done = threading.Event()

    def look() -> None:
        try:
            while not done.is_set():
                panels = [charts.panel(attempt, name) for name in ("step_time", "comm", "value:loss")]
                reads.append(len(panels[0]["x"]))
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    page = threading.Thread(target=look)
    page.start()
    try:
        for batch in range(20):  # 50 steps a second, in batches of a fifth of a second
            numbers = range(batch * 10, batch * 10 + 10)
            for node, ranks in zip(nodes, (range(4), range(4, 8)), strict=True):
                node.say(steps=[steps(ranks, numbers)], values=[values("loss", r, {numbers[0]: 1.0}) for r in ranks])
            turn(ingest, 1)
        until(lambda: turn(ingest, 1) or (all(node.acked == 20 for node in nodes) and len(reads) > 2))
    finally:
        done.set()
        page.join()
    assert failed == []
    assert read.series(attempt, "phase/step").values.shape == (200, 8)


def test_twenty_jobs_of_one_project_go_through_one_ingest(transactional_db, redis_client, ingest: Ingest):
    project: Project = builders.project("busy")
    attempts = [builders.running_attempt(nodes=1, ranks_per_node=1, in_project=project) for _ in range(20)]
    nodes = [FakeNode(redis_client, attempt, attempt.parts.get()) for attempt in attempts]
    for numbers in (range(30), range(30, 60)):
        for node in nodes:
            node.say(steps=[steps([0], numbers)], values=[values("loss", 0, dict.fromkeys(numbers, 0.5))])
    until(lambda: turn(ingest, 1) or all(node.acked == 2 for node in nodes), timeout=30)
    for attempt in attempts:
        assert read.series(attempt, "loss").index.tolist() == list(range(60))
    assert not Parked.objects.exists()


def test_a_thousand_keys_of_eight_ranks_in_any_order_are_all_there(transactional_db, redis_client, ingest: Ingest):
    attempt = builders.running_attempt(nodes=2, ranks_per_node=4)
    shuffle = random.Random(5).sample
    keys = [f"layer{k}/grad" for k in range(1_000)]
    for k, part in enumerate(attempt.parts.all()):
        node = FakeNode(redis_client, attempt, part)
        for rank in range(4 * k, 4 * k + 4):
            node.say(values=[values(key, rank, {7: float(rank)}) for key in shuffle(keys, len(keys))])
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED)
    attempt.parts.update(finished_at=attempt.created_at)
    until(lambda: turn(ingest, 1) or Attempt.objects.get(pk=attempt.pk).compacted, timeout=30)
    assert sorted(Metric.objects.filter(attempt=attempt).values_list("name", flat=True)) == sorted(keys)
    assert set(Metric.objects.values_list("points", flat=True)) == {8}
    assert read.series(attempt, "layer500/grad").values.tolist() == [[float(rank) for rank in range(8)]]
    assert not Parked.objects.exists()
