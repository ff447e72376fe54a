"""Rows for tests, with the defaults that most tests want."""

from itertools import count
from typing import Any

from django.utils import timezone

from webapp.accounts.models import User
from webapp.nodes.models import Node, Slot
from webapp.projects.models import Membership, Project, Role
from webapp.runs.models import Attempt, AttemptNode, RankState, Run, Status
from webapp.runs.spec import RunSpec

_n = count(1)


def user(name: str = "", **fields: Any) -> User:
    return User.objects.create_user(username=name or f"user{next(_n)}", password="correct horse", **fields)


def project(slug: str = "", **members: Role) -> Project:
    """`project("demo", ana=Role.EDITOR)` makes the people too."""
    row = Project.objects.create(slug=slug or f"project{next(_n)}", name=slug or "Project")
    for name, role in members.items():
        person = User.objects.filter(username=name).first() or user(name)
        Membership.objects.create(project=row, user=person, role=role)
    return row


def node(name: str = "", slots: int = 2, **fields: Any) -> Node:
    """A node that was heard from just now."""
    i = next(_n)
    defaults: dict[str, Any] = {
        "name": name or f"node{i}",
        "token_hash": f"t{i}",
        "redis_password_sha256": f"{i:064x}",
        "address": "127.0.0.1",
        "last_heard": timezone.now(),
    }
    row = Node.objects.create(**{**defaults, **fields})
    Slot.objects.bulk_create(Slot(node=row, index=k, kind="cpu", model="CPU") for k in range(slots))
    return row


def spec(**fields: Any) -> RunSpec:
    return RunSpec.model_validate({"argv": ["/srv/train.py"], "nodes": 2, "ranks_per_node": 2, **fields})


def running_attempt(nodes: int = 2, ranks_per_node: int = 2, in_project: Project | None = None) -> Attempt:
    """A run that is running on fresh nodes, made without the scheduler."""
    where = in_project or project()
    owner = user()
    Membership.objects.create(project=where, user=owner, role=Role.EDITOR)
    asked = spec(nodes=nodes, ranks_per_node=ranks_per_node)
    now = timezone.now()
    run = Run.objects.create(
        project=where,
        owner=owner,
        name=f"run{next(_n)}",
        spec=asked.model_dump(),
        world_size=asked.world_size,
        attempt_count=1,
        status=Status.RUNNING,
        started_at=now,
    )
    attempt = Attempt.objects.create(
        run=run, number=1, world_size=asked.world_size, status=Status.RUNNING, placed_at=now, started_at=now
    )
    for k in range(nodes):
        row = node(slots=ranks_per_node)
        row.slots.update(attempt=attempt)
        AttemptNode.objects.create(
            attempt=attempt,
            node=row,
            node_uid=row.uid,
            node_name=row.name,
            node_rank=k,
            slots=list(range(ranks_per_node)),
        )
        for local in range(ranks_per_node):
            RankState.objects.create(attempt=attempt, rank=k * ranks_per_node + local, node_rank=k, local_rank=local)
    return attempt
