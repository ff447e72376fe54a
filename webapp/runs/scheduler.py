"""Placement carried out: slots claimed in one transaction, or none."""

import secrets
from dataclasses import asdict
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from webapp.live.publish import run_changed, wake_ingest
from webapp.nodes.commands import order_starts
from webapp.nodes.models import Command, CommandKind, Node, Slot
from webapp.nodes.reach import is_clean, reachable
from webapp.preflight import lifecycle as preflight
from webapp.runs.models import Attempt, AttemptNode, RankState, Status
from webapp.runs.placement import Offer, Placement, Wait, Wish, choose
from webapp.runs.spec import RunSpec
from webapp.runs.state import PLACED, move, record


class Overbooked(Exception):
    """A slot was taken in between. The transaction is rolled back; the next sweep decides anew."""


def place_queued(now: datetime | None = None) -> int:
    """Place what fits, note what the others wait for. Returns how many attempts were placed.

    Callers in other processes wait for each other: SQLite takes its write lock at BEGIN, PostgreSQL locks the slots.
    """
    if not Attempt.objects.filter(status=Status.QUEUED).exists():
        return 0
    with transaction.atomic():
        slots = list(Slot.objects.select_for_update().order_by("pk"))
        there = list(reachable(now or timezone.now()))
        nodes = {node.pk: node for node in there if not node.draining and is_clean(node)}
        kept_out = [[node.name, "draining" if node.draining else "dirty"] for node in there if node.pk not in nodes]
        queue = Attempt.objects.filter(status=Status.QUEUED, run__deleted_at=None).select_related("run").order_by("pk")
        attempts = {attempt.pk: attempt for attempt in queue}
        placements, waits = choose(_wishes(list(attempts.values())), _offers(nodes, slots))
        placed = [_place(attempts[placement.attempt], placement, nodes) for placement in placements]
        for wait in waits:
            _note_wait(attempts[wait.attempt], {**asdict(wait), "kept_out": kept_out})
    return sum(placed)


def free_port(address: str) -> int | None:
    """Any port of RENDEZVOUS_PORTS that no active attempt uses on this address.

    By chance: the last attempt's may still be in TIME_WAIT, and another server may use the same range.
    """
    low, high = settings.RENDEZVOUS_PORTS
    active = Attempt.objects.filter(status__in=PLACED, master_addr=address)
    free = sorted(set(range(low, high + 1)) - set(active.values_list("master_port", flat=True)))
    return secrets.choice(free) if free else None


def _offers(nodes: dict[int, Node], slots: list[Slot]) -> list[Offer]:
    offers = []
    for pk, node in nodes.items():
        own = [slot for slot in slots if slot.node_id == pk]
        free = tuple(sorted(slot.index for slot in own if slot.attempt_id is None))
        offers.append(Offer(node=pk, free=free, total=len(own), name=node.name))
    return offers


def _wishes(attempts: list[Attempt]) -> list[Wish]:
    uncleaned: dict[int, set[int]] = {}
    forgets = Command.objects.filter(kind=CommandKind.FORGET, accepted_at=None)
    for key, node in forgets.values_list("attempt_key", "node_id"):
        uncleaned.setdefault(key, set()).add(node)
    return [
        Wish(
            attempt=attempt.pk,
            nodes=attempt.run.spec["nodes"],
            ranks_per_node=attempt.run.spec["ranks_per_node"],
            avoid=frozenset(uncleaned.get(attempt.pk, ())),
        )
        for attempt in attempts
    ]


def _place(attempt: Attempt, placement: Placement, nodes: dict[int, Node]) -> bool:
    master = nodes[placement.parts[0][0]]
    port = free_port(master.address)
    if port is None:
        _note_wait(attempt, asdict(Wait(attempt.pk, "ports", attempt.world_size, len(placement.parts), 0)))
        return False
    started = move(
        attempt,
        (Status.QUEUED,),
        status=Status.STARTING,
        master_addr=master.address,
        master_port=port,
        placed_at=timezone.now(),
        waits_for={},
    )
    if not started:
        return False
    for node_rank, (node, indexes) in enumerate(placement.parts):
        _claim(attempt, node_rank, nodes[node], indexes)
    names = [nodes[node].name for node, _indexes in placement.parts]
    record(attempt, "placed", actor="scheduler", nodes=names, port=port)
    if attempt.run.spec.get("preflight"):
        record(attempt, "checking", actor="scheduler")
        preflight.begin([nodes[node] for node, _indexes in placement.parts], attempt=attempt)  # its end starts it
    else:
        order_starts(attempt)
    wake_ingest()
    return True


def _claim(attempt: Attempt, node_rank: int, node: Node, indexes: tuple[int, ...]) -> None:
    free = Slot.objects.filter(node=node, index__in=indexes, attempt=None)
    if free.update(attempt=attempt) != len(indexes):
        raise Overbooked(f"slots {indexes} of {node.uid}")
    AttemptNode.objects.create(
        attempt=attempt,
        node=node,
        node_uid=node.uid,
        node_name=node.name,
        node_rank=node_rank,
        slots=list(indexes),
        inventory=node.inventory,
    )
    per_node = RunSpec.stored(attempt.run.spec).ranks_per_node
    RankState.objects.bulk_create(
        RankState(attempt=attempt, rank=node_rank * per_node + local, node_rank=node_rank, local_rank=local)
        for local in range(per_node)
    )


def _note_wait(attempt: Attempt, wait: dict[str, object]) -> None:
    wait.pop("attempt", None)
    if attempt.waits_for != wait and Attempt.objects.filter(pk=attempt.pk, status=Status.QUEUED).update(waits_for=wait):
        run_changed(attempt.run)
