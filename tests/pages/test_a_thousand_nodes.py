"""No page is big where there are a thousand nodes, and a run that takes all their slots."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests import builders
from webapp.nodes.models import Node, Slot
from webapp.preflight.models import Check, CheckedNode, Presence, Stage
from webapp.runs.models import Attempt, AttemptNode, Outcome, RankState, Run, Status

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

NODES, EACH = 1_000, 8
MOST_BYTES = 300_000
GPU = "NVIDIA H100 80GB HBM3"
SLOTS = [{"index": k, "kind": "gpu", "model": GPU, "memory_total": 80 * 1024**3} for k in range(EACH)]
INVENTORY: dict[str, Any] = {
    "slots": SLOTS, "cpus": 192, "cpu_model": "Intel(R) Xeon(R) Platinum 8480C", "memory_total": 2 * 1024**4,
    "driver": "550.54.15", "python": "3.11.7", "torch": "2.7.1+cu126", "nccl": "2.26.2",
}  # fmt: skip


@pytest.fixture
def attempt() -> Attempt:
    """On all of them; every rank of it failed."""
    now, run = timezone.now(), builders.running_attempt(nodes=1, ranks_per_node=1).run
    Node.objects.all().delete()
    nodes = Node.objects.bulk_create(
        Node(
            name=f"gpu-{k:04d}.cluster.example",
            token_hash=f"t{k}",
            redis_password_sha256=f"{k:064x}",
            address=f"10.0.{k // 256}.{k % 256}",
            last_heard=now,
            inventory=INVENTORY,
            vitals={"cpu": 42.0, "memory_used": 1024**4},
            clock_offset=0.001,
            clock_error=0.0004,
            agent_version="0.4.0",
        )
        for k in range(NODES)
    )
    attempt = run.attempts.get()
    attempt.ranks.all().delete()
    attempt.parts.all().delete()
    Slot.objects.bulk_create(
        Slot(node=node, index=k, kind="gpu", model=GPU, attempt=attempt) for node in nodes for k in range(EACH)
    )
    AttemptNode.objects.bulk_create(
        AttemptNode(
            attempt=attempt, node=node, node_uid=node.uid, node_name=node.name, node_rank=k, inventory=INVENTORY,
            slots=list(range(EACH)),
        )
        for k, node in enumerate(nodes)
    )  # fmt: skip
    RankState.objects.bulk_create(
        RankState(attempt=attempt, rank=k, node_rank=k // EACH, local_rank=k % EACH, exit_code=1, made=k % 9)
        for k in range(NODES * EACH)
    )
    spec = {**run.spec, "nodes": NODES, "ranks_per_node": EACH}
    ended = {"status": Status.ENDED, "outcome": Outcome.FAILED, "ended_at": now, "world_size": NODES * EACH}
    Attempt.objects.filter(pk=attempt.pk).update(**ended)
    Run.objects.filter(pk=run.pk).update(spec=spec, **ended)
    return attempt


@pytest.fixture
def page(attempt: Attempt) -> Client:
    client = Client()
    client.force_login(builders.user("root", is_superuser=True))
    return client


@pytest.fixture
def check(attempt: Attempt) -> Check:
    """Of all of them, in which all links of every tenth one are cut and every seventh did not answer."""
    check = Check.objects.create(stage=Stage.DONE, stage_until=timezone.now(), done_at=timezone.now())
    nodes = list(Node.objects.order_by("name"))
    facts = {"versions": {"torch": "2.7.1+cu126", "nccl": "2.26.2"}, "driver": "550.54.15", "gpus": [{}] * EACH}
    CheckedNode.objects.bulk_create(
        CheckedNode(
            check_of=check,
            place=k,
            node=node,
            node_uid=node.uid,
            node_name=node.name,
            presence=Presence.MEASURED,
            facts=facts if k % 7 else {},
            links={
                nodes[other].uid: {"error": "refused"} if 0 in (k % 10, other % 10) else {"mb_s": 1100.0, "rtt_ms": 0.1}
                for other in range(k % 50, k, 50)
            },
        )
        for k, node in enumerate(nodes)
    )
    return check


def test_no_page_is_big(page: Client, attempt: Attempt, check: Check) -> None:
    run = f"/runs/{attempt.run.uid}/"
    addresses = ["/", "/nodes/", "/nodes/?page=20", "/nodes/checks/", f"/nodes/checks/{check.pk}/", "/launch/"]
    addresses += [run, *(f"{run}{part}" for part in ("header", "config", "ledger", "keys"))]
    sizes = {}
    for address in addresses:
        answer = page.get(address)
        assert answer.status_code == 200, address
        sizes[address] = len(answer.content)
    assert max(sizes.values()) < MOST_BYTES, sizes


def test_what_is_left_out_is_said(page: Client, attempt: Attempt, check: Check) -> None:
    config = page.get(f"/runs/{attempt.run.uid}/config").content.decode()
    assert config.count("The first 64 of 1,000 nodes.") == 2
    found = page.get(f"/nodes/checks/{check.pk}/").content.decode()
    assert "200 of 1,000 nodes, those that did not answer first." in found
    assert "8 nodes share a row; a square shows the worst link between its nodes." in found
    assert "30 of 1,000 nodes" in page.get("/nodes/").content.decode()
