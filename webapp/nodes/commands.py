"""Orders to nodes: rows, and the wire messages built from them at send time."""

import logging
from datetime import datetime, timedelta
from typing import Any

import redis
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from trainer_agent.wire import codec, messages, names
from webapp.nodes.models import Command, CommandKind, Node
from webapp.nodes.reach import heard_since
from webapp.queue import SEND, hint
from webapp.redis import connection
from webapp.runs import secrets
from webapp.runs.models import Attempt, AttemptNode
from webapp.runs.spec import RunSpec

log = logging.getLogger(__name__)

RESEND_AFTER_S = 5.0
KEPT_PER_NODE = 1_000
ASKED_FOR_S = 20.0  # a question what ranks do now is not worth asking later


def order(kind: CommandKind, node: Node, attempt: Attempt, **arguments: object) -> Command:
    """Write a start, stop or autopsy and hint that there is one to send."""
    command = Command.objects.create(node=node, attempt=attempt, attempt_key=attempt.pk, kind=kind, arguments=arguments)
    hint(SEND)
    return command


def order_of_node(kind: CommandKind, node: Node, **arguments: object) -> None:
    """Write an order that is about no attempt but the node itself: one of a check."""
    Command.objects.create(node=node, attempt_key=0, kind=kind, arguments=arguments)
    hint(SEND)


def order_forget(node: Node, attempt_key: int) -> None:
    """Order a node to drop all that it holds of an attempt, once. The order outlives the attempt's row."""
    forgets = Command.objects.filter(node=node, attempt_key=attempt_key, kind=CommandKind.FORGET, accepted_at=None)
    if not forgets.exists():
        Command.objects.create(node=node, attempt_key=attempt_key, kind=CommandKind.FORGET)
        hint(SEND)


def accept(node: Node | None, attempt_key: int, *kinds: CommandKind) -> None:
    """The node has taken its open commands of these kinds; they are not sent again."""
    Command.objects.filter(node=node, attempt_key=attempt_key, kind__in=kinds, accepted_at=None).update(
        accepted_at=timezone.now()
    )


def accept_start(node: Node | None, attempt_key: int, command: int | None) -> None:
    """The node has answered one start command: not a newer one that crossed the answer on its way."""
    starts = Command.objects.filter(node=node, attempt_key=attempt_key, kind=CommandKind.START, accepted_at=None)
    known = Q() if command is None else Q(pk__lte=command)
    starts.filter(known).update(accepted_at=timezone.now())


def accept_autopsy(node: Node | None, attempt_key: int, asked: int) -> None:
    """The node has answered this question."""
    questions = Command.objects.filter(node=node, attempt_key=attempt_key, kind=CommandKind.AUTOPSY, accepted_at=None)
    questions.filter(arguments__asked=asked).update(accepted_at=timezone.now())


def accept_check(node: Node | None, kind: CommandKind, **which: object) -> None:
    """The node has answered this order of a check; `which` names it among its arguments."""
    named = {f"arguments__{name}": value for name, value in which.items()}
    Command.objects.filter(node=node, kind=kind, accepted_at=None, **named).update(accepted_at=timezone.now())


def order_starts(attempt: Attempt) -> None:
    """Order every node of a placed attempt to start its part; an older start that nobody answered is void."""
    for part in attempt.parts.filter(finished_at=None, node__isnull=False).select_related("node"):
        assert part.node is not None
        accept(part.node, attempt.pk, CommandKind.START)
        order(CommandKind.START, part.node, attempt)


def withdraw_start(part: AttemptNode) -> bool:
    """Take back a start that was never sent. True when the node has heard nothing of the attempt."""
    starts = Command.objects.filter(node=part.node, attempt_key=part.attempt_id, kind=CommandKind.START)
    starts.filter(sent_at=None, accepted_at=None).delete()
    return not starts.exists()


def due(now: datetime) -> QuerySet[Command]:
    """Open commands to send now: never sent, or sent a while ago to a node that can be reached."""
    silent = Q(sent_at__lt=now - timedelta(seconds=RESEND_AFTER_S), node__last_heard__gte=heard_since(now))
    return Command.objects.filter(Q(sent_at=None) | silent, accepted_at=None, node__removed_at=None)


def send(command: Command) -> bool:
    """Claim and send one command; False when another sender was faster. After a RedisError it is due again."""
    claimed = Command.objects.filter(pk=command.pk, sent_at=command.sent_at, accepted_at=None)
    if claimed.update(sent_at=timezone.now()) != 1:
        return False
    message = to_wire(command)
    if message is None:
        Command.objects.filter(pk=command.pk).update(accepted_at=F("sent_at"))
        return False
    stream = names.commands(command.node.uid)
    try:
        connection().xadd(stream, {names.FIELD: codec.encode(message)}, maxlen=KEPT_PER_NODE, approximate=True)
    except redis.RedisError:
        Command.objects.filter(pk=command.pk).update(sent_at=command.sent_at)
        raise
    log.info("%s sent to %s for attempt %s", command.kind, command.node.uid, command.attempt_key)
    return True


def drop_accepted() -> None:
    """Empty the streams of nodes that accepted every command: a start holds decrypted secrets."""
    nodes = list(Node.objects.filter(removed_at=None).values_list("uid", flat=True))
    newest = connection().pipeline(transaction=False)
    for uid in nodes:
        newest.xrevrange(names.commands(uid), count=1)
    last = {uid: found[0][0] for uid, found in zip(nodes, newest.execute(), strict=True) if found}
    # Read after the streams: what is sent from now on lies behind `last` and stays.
    waiting = set(Command.objects.filter(accepted_at=None, node__uid__in=last).values_list("node__uid", flat=True))
    trims = connection().pipeline(transaction=False)
    for uid in last.keys() - waiting:
        trims.xtrim(names.commands(uid), minid=_after(last[uid]), approximate=False)
    trims.execute()


def to_wire(command: Command) -> messages.Command | None:
    """The message that a row stands for; None when what it was about is gone. A start holds decrypted secrets."""
    if command.kind == CommandKind.FORGET:
        return messages.ForgetAttempt(v=messages.WIRE_VERSION, id=command.pk, attempt=command.attempt_key)
    if command.kind == CommandKind.STOP:
        return messages.StopAttempt(
            v=messages.WIRE_VERSION, id=command.pk, attempt=command.attempt_key, **command.arguments
        )
    if command.kind in (CommandKind.AUTOPSY, CommandKind.OPEN, CommandKind.PROBE):
        return None if timezone.now() - command.created_at > timedelta(seconds=ASKED_FOR_S) else _question(command)
    part = AttemptNode.objects.filter(attempt=command.attempt_key, node=command.node).select_related("attempt__run")
    found = part.first()
    return None if found is None else _start(command, found)


def _after(entry_id: bytes) -> str:
    moment, _, count = entry_id.decode().partition("-")
    return f"{moment}-{int(count) + 1}"


def _question(command: Command) -> messages.Command:
    told: dict[str, Any] = {"v": messages.WIRE_VERSION, "id": command.pk, **command.arguments}
    if command.kind == CommandKind.OPEN:
        return messages.OpenCheck(token=_check_token(told["check"]), **told)
    if command.kind == CommandKind.PROBE:
        return messages.ProbePeers(**{**told, "peers": [messages.CheckPeer(**peer) for peer in told["peers"]]})
    return messages.AutopsyAttempt(attempt=command.attempt_key, **told)


def _check_token(check: int) -> str:
    """What the nodes of one check show each other. Made when it is sent, so that no row holds it."""
    return salted_hmac("paceline.preflight", str(check), algorithm="sha256").hexdigest()


def _start(command: Command, part: AttemptNode) -> messages.StartAttempt:
    attempt, run = part.attempt, part.attempt.run
    spec = RunSpec.stored(run.spec)
    return messages.StartAttempt(
        v=messages.WIRE_VERSION,
        id=command.pk,
        attempt=attempt.pk,
        run=run.uid,
        attempt_number=attempt.number,
        node_rank=part.node_rank,
        nnodes=spec.nodes,
        ranks_per_node=spec.ranks_per_node,
        master_addr=attempt.master_addr,
        master_port=attempt.master_port or 0,
        argv=spec.argv,
        env={**spec.env, **secrets.values_of(run)},
        slots=part.slots,
        workdir=spec.workdir,
        git_url=spec.git_url,
        git_ref=spec.git_ref,
        upload_sha256=spec.upload_sha256,
        grace=spec.grace,
        stop_signal=spec.stop_signal,
        timeout=spec.timeout,
        deep=spec.deep,
        peers=_peers(attempt),
    )


def _peers(attempt: Attempt) -> dict[int, list[str]]:
    parts = [(part.node_rank, part.node) for part in attempt.parts.select_related("node") if part.node is not None]
    return {rank: [node.address, *node.inventory.get("addresses", ())] for rank, node in parts}
