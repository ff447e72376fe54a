"""A placed attempt and what its nodes would say, in a line each."""

import time
from typing import Any

from django.db import transaction
from django.utils import timezone

from tests import builders
from trainer_agent.wire import codec, messages, names
from trainer_agent.wire.messages import AttemptAlive
from webapp.nodes.models import Node
from webapp.projects.models import Project, Role
from webapp.runs import lifecycle, scheduler
from webapp.runs.models import Attempt, AttemptNode, Run
from webapp.runs.spec import RunSpec


def launch(in_project: Project | None = None, secrets: dict[str, str] | None = None, **fields: Any) -> Run:
    """A queued run, made as the page makes it."""
    where = in_project or builders.project()
    owner = builders.user()
    where.memberships.create(user=owner, role=Role.EDITOR)
    asked: RunSpec = builders.spec(**fields)
    return lifecycle.create(project=where, owner=owner, name="try", spec=asked, secrets=secrets or {})


def placed(**fields: Any) -> Attempt:
    """An attempt on fresh nodes, with its start commands written."""
    asked = {"nodes": 2, "ranks_per_node": 2, **fields}
    for _node in range(asked["nodes"]):
        builders.node(slots=asked["ranks_per_node"])
    run = launch(**asked)
    assert scheduler.place_queued() == 1
    return run.attempts.get()


def running(**fields: Any) -> Attempt:
    """An attempt whose ranks all live."""
    attempt = placed(**fields)
    for part in attempt.parts.all():
        say(part, "accepted")
        say(part, "launched", pid=1)
        for rank in attempt.ranks.filter(node_rank=part.node_rank):
            say(part, "rank_started", rank.rank, pid=100 + rank.rank)
    attempt.refresh_from_db()
    return attempt


def say(part: AttemptNode, kind: str, rank: int | None = None, at: float | None = None, **data: Any) -> None:
    """Apply one event, as ingest does."""
    with transaction.atomic():
        fresh = AttemptNode.objects.select_related("attempt__run", "node").get(pk=part.pk)
        moment = time.time() if at is None else at
        lifecycle.apply_event(fresh, messages.Event(kind=kind, at=moment, rank=rank, data=data))


def part_of(attempt: Attempt, node_rank: int) -> AttemptNode:
    return attempt.parts.get(node_rank=node_rank)


def node_of(attempt: Attempt, node_rank: int) -> Node:
    node = part_of(attempt, node_rank).node
    assert node is not None
    return node


def finish(attempt: Attempt, code: int = 0) -> None:
    """Every rank ends with `code`, every node proves that its tree is gone."""
    for part in attempt.parts.all():
        for rank in attempt.ranks.filter(node_rank=part.node_rank, exited_at=None):
            say(part, "rank_exited", rank.rank, code=code, signal=None)
        say(part, "finished", launcher_code=code, launcher_signal=None, survivors=[], reason="exited")
    attempt.refresh_from_db()


def beat(
    client: Any, node: Node, *attempts: int | AttemptAlive, at: float | None = None, slots: int = 2, **fields: Any
) -> None:
    """Write a heartbeat that lists these attempts; of one that is only a number, one rank lives."""
    facts = [messages.SlotFacts(index=k, kind="cpu", model="CPU") for k in range(slots)]
    message = messages.Heartbeat(
        v=messages.WIRE_VERSION,
        node=node.uid,
        at=timezone.now().timestamp() if at is None else at,
        inventory=messages.Inventory(hostname=node.name, address="127.0.0.1", slots=facts),
        attempts=[a if isinstance(a, AttemptAlive) else AttemptAlive(attempt=a, ranks=[0]) for a in attempts],
        **fields,
    )
    client.set(names.heartbeat(node.uid), codec.encode(message), ex=names.HEARTBEAT_TTL)


def stopped(attempt: Attempt) -> None:
    """What still lived obeyed the stop signal; every node proves that its tree is gone."""
    for part in attempt.parts.all():
        for rank in attempt.ranks.filter(node_rank=part.node_rank, exited_at=None):
            say(part, "rank_exited", rank.rank, code=None, signal=15)
        say(part, "finished", launcher_code=1, launcher_signal=None, survivors=[], reason="stopped")
    attempt.refresh_from_db()
