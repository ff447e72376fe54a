"""Launches that somebody else's scheduler makes: one job is one run, however many nodes attach.

A node that attaches joins the open attempt of its job; after the end of that attempt it opens the next one. Nothing
here takes a slot, and nothing of an attached run is placed, retried or stopped without a person.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from trainer_agent.wire.messages import Event, Inventory
from webapp.accounts.models import User
from webapp.history.record import note_spec
from webapp.nodes.enrol import Joined, admit_attached
from webapp.nodes.reach import is_reachable
from webapp.projects.models import Project
from webapp.runs.models import Attempt, AttemptNode, Cause, RankState, Run, Status
from webapp.runs.settle import lose_part
from webapp.runs.spec import RunSpec
from webapp.runs.state import locked, new_attempt, record

# A node of the same launch may come this late to an attempt that has ended: the others were quick to fail.
_LATE = timedelta(minutes=2)
_TRIES = 5
MOST_RANKS = 65_536


@dataclass(frozen=True, slots=True)
class Call:
    """What an attaching agent says. `member` names this agent and nobody else; `job` empty: no other node will come.

    `launch` tells launches of one job apart where the scheduler counts them; `node_rank` None: in order of arrival.
    """

    project: Project
    owner: User
    name: str
    member: str
    job: str
    launch: str
    node_rank: int | None
    spec: RunSpec
    inventory: Inventory


def attach(call: Call) -> tuple[AttemptNode, Joined]:
    """The caller's part, and its credentials. Asked again by the same member: the same part, with new credentials."""
    for _try in range(_TRIES - 1):
        try:
            return _attach(call)
        except IntegrityError:  # another node of the job was faster: the next try finds what it made
            continue
    return _attach(call)


@transaction.atomic
def _attach(call: Call) -> tuple[AttemptNode, Joined]:
    joined = admit_attached(call.member, call.inventory)
    part = AttemptNode.objects.filter(node=joined.node).select_related("attempt__run").first()
    if part is None:
        part = _join(_attempt(_run(call), call), call, joined)
    return part, joined


def _run(call: Call) -> Run:
    if call.job:
        found = Run.objects.filter(project=call.project, job_key=call.job, deleted_at=None).first()
        if found is not None:
            return found
    run = Run.objects.create(
        project=call.project,
        owner=call.owner,
        name=call.name,
        spec=call.spec.model_dump(mode="json"),
        world_size=call.spec.world_size,
        job_key=call.job,
        status=Status.STARTING,
    )
    note_spec(run)
    return run


def _attempt(run: Run, call: Call) -> Attempt:
    """The attempt to join: the open one of this launch, else a new one."""
    newest = run.attempts.order_by("-number").first()
    if newest is not None:
        newest = locked(newest.pk)
        if _belongs(newest, call, timezone.now()):
            return newest
        _supersede(newest)
        run.refresh_from_db()
    attempt = new_attempt(run, Status.STARTING, launch_key=call.launch, placed_at=timezone.now())
    record(attempt, "attached", actor=call.owner.username, attempt=attempt.number)
    return attempt


def _belongs(attempt: Attempt, call: Call, now: datetime) -> bool:
    if call.launch != attempt.launch_key:
        return False
    places = attempt.parts.select_related("node")
    mine = next((part for part in places if part.node_rank == call.node_rank), None)
    if attempt.status == Status.ENDED:
        expected = len(places) < attempt.run.spec["nodes"] and mine is None
        return expected and attempt.ended_at is not None and now - attempt.ended_at < _LATE
    silent = mine is not None and (mine.node is None or not is_reachable(mine.node, now))
    return not silent  # this very place is taken by one that was killed without a word: a relaunch


def _supersede(attempt: Attempt) -> None:
    """A newer launch of the same job is there: what has not told its end will not."""
    for part in attempt.parts.filter(finished_at=None, lost_at=None):
        part.attempt = attempt
        lose_part(part, reason="superseded", cause=Cause.NODE)


def _join(attempt: Attempt, call: Call, joined: Joined) -> AttemptNode:
    parts = list(attempt.parts.all())
    ranks = {part.node_rank for part in parts}
    wanted = call.node_rank
    free = next(rank for rank in range(len(parts) + 1) if rank not in ranks)
    inventory = {**joined.node.inventory, "command": call.spec.argv}
    part = AttemptNode.objects.create(
        attempt=attempt,
        node=joined.node,
        node_uid=joined.node.uid,
        node_name=_name(call.inventory.hostname, {part.node_name for part in parts}),
        node_rank=free if wanted is None or wanted in ranks else wanted,
        launched_at=timezone.now(),
        inventory=inventory,
    )
    if len(parts) + 1 > attempt.run.spec["nodes"]:
        learn_shape(attempt, nodes=len(parts) + 1)
    record(attempt, "node_attached", node=part.node_name)
    return part


def rank_seen(part: AttemptNode, event: Event) -> RankState | None:
    """The row of a rank that a node found among the launch's processes; made at its first word.

    The launcher numbers the ranks, so a rank may come up on another node after an elastic restart.
    """
    if event.rank is None or not 0 <= event.rank < MOST_RANKS:
        return None
    attempt, rank = part.attempt, event.rank
    world, local = _count(event, "world_size"), _count(event, "local_rank")
    place = {"node_rank": part.node_rank, "local_rank": local or 0}
    row, _made = RankState.objects.update_or_create(attempt=attempt, rank=rank, defaults=place)
    world = world or max(attempt.world_size, rank + 1)
    if world != attempt.world_size:
        learn_shape(attempt, world_size=world)
    return row


def _count(event: Event, name: str) -> int | None:
    value = event.data.get(name)
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_RANKS
    return value if fits else None


def learn_shape(attempt: Attempt, *, nodes: int | None = None, world_size: int | None = None) -> None:
    """Write down how large the launch is, now that its ranks told it."""
    run = attempt.run
    each = int(run.spec["ranks_per_node"])
    nodes = nodes or int(run.spec["nodes"])
    if world_size:
        each = -(-world_size // nodes)
    world_size = world_size or nodes * each
    Attempt.objects.filter(pk=attempt.pk).update(world_size=world_size)
    attempt.world_size = world_size
    spec = {**run.spec, "nodes": nodes, "ranks_per_node": min(each, 64)}
    Run.objects.filter(pk=run.pk, attempt_count=attempt.number).update(world_size=world_size, spec=spec)
    run.world_size, run.spec = world_size, spec


def _name(hostname: str, taken: set[str]) -> str:
    """The host's name, numbered when two agents of one attempt share a machine."""
    base = "".join(letter for letter in hostname if letter.isprintable())[:100] or "node"
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
