"""The only writer of checks: opening -> measuring -> (repeating) -> done. docs/preflight.md tells the whole of it.

Every step is safe to take twice, and none waits longer than its time: who does not answer is named, not waited for.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from webapp.nodes.commands import accept_check, order_of_node
from webapp.nodes.models import CommandKind, Node, Slot
from webapp.nodes.reach import is_reachable
from webapp.preflight import outcome, schedule
from webapp.preflight.answers import better, checked_link
from webapp.preflight.link_verdict import suspects
from webapp.preflight.models import Check, CheckedNode, Presence, Stage
from webapp.preflight.read import verdict_of
from webapp.runs.models import Attempt

KNOWN = "check"  # in Inventory.knows of agents that can be checked
LASTS_S = 60.0  # the whole check, at most
OPENING_S, MEASURING_S, REPEATING_S, ANSWER_S = 8.0, 32.0, 10.0, 3.0
LONGEST_TURN_S, MOST_REPEATS = 4.0, 6
WINDOW_S, SHORT_WINDOW_S, MANY_TURNS = 0.1, 0.04, 31
KEPT = 300  # checks that no attempt is for


@transaction.atomic
def begin(nodes: Sequence[Node], *, by: str = "", attempt: Attempt | None = None) -> Check:
    """Ask these nodes, in this order: the first one is where ranks would meet. `by`: a person, or the scheduler."""
    now = timezone.now()
    check = Check.objects.create(asked_by=by, attempt=attempt, stage_until=now + timedelta(seconds=OPENING_S))
    others = Slot.objects.filter(node__in=nodes).exclude(attempt=None).exclude(attempt=attempt)
    busy = set(others.values_list("node", flat=True))
    for place, node in enumerate(nodes):
        presence = _presence(node)
        CheckedNode.objects.create(
            check_of=check,
            place=place,
            node=node,
            node_uid=node.uid,
            node_name=node.name,
            presence=presence,
            is_busy=node.pk in busy,
        )
        if presence == Presence.ASKED:
            order_of_node(CommandKind.OPEN, node, **_open(check, attempt))
    if by:
        _forget_old()
    return advance(check)


@transaction.atomic
def take_opened(one: CheckedNode, port: int, meeting_port: int, facts: dict[str, Any]) -> None:
    """A node has told of itself and listens."""
    accept_check(one.node, CommandKind.OPEN, check=one.check_of_id)
    rows = CheckedNode.objects.filter(pk=one.pk, presence=Presence.ASKED)
    rows.update(presence=Presence.OPENED, port=port, meeting_port=meeting_port, facts=facts)
    advance(one.check_of)


@transaction.atomic
def take_measured(one: CheckedNode, stage: str, links: Mapping[str, Any]) -> None:
    """A node has measured its links. A second measurement of a link does not make it worse."""
    accept_check(one.node, CommandKind.PROBE, check=one.check_of_id, stage=stage)
    check = _locked(one.check_of)
    if check.stage == Stage.DONE or stage != check.stage:
        return
    others = set(check.nodes.values_list("node_uid", flat=True))
    told = {uid: checked_link(link) for uid, link in links.items() if uid in others}
    fresh = CheckedNode.objects.get(pk=one.pk)
    if stage == Stage.REPEATING:
        told = {uid: better(fresh.links[uid], link) if uid in fresh.links else link for uid, link in told.items()}
    fresh.links = {**fresh.links, **told}
    fresh.presence = Presence.MEASURED
    fresh.save(update_fields=["links", "presence"])
    advance(check)


@transaction.atomic
def advance(check: Check) -> Check:
    """Take the next step if all have answered, or their time is over."""
    check = _locked(check)
    if check.stage == Stage.DONE:
        return check
    waited_for = Presence.ASKED if check.stage == Stage.OPENING else Presence.OPENED
    over = timezone.now() >= check.stage_until
    if not over and check.nodes.filter(presence=waited_for).exists():
        return check
    if check.stage == Stage.OPENING:
        _measure(check)
    elif check.stage == Stage.MEASURING and not over:
        _repeat(check)
    else:
        _conclude(check)
    check.refresh_from_db()
    return check


def advance_due() -> None:
    """For the sweep: checks whose time is over. Most are brought on by their nodes' answers."""
    for check in Check.objects.filter(stage_until__lte=timezone.now()).exclude(stage=Stage.DONE):
        advance(check)


def _locked(check: Check) -> Check:
    return Check.objects.select_for_update(of=("self",)).get(pk=check.pk)


def _presence(node: Node) -> Presence:
    if not is_reachable(node, timezone.now()):
        return Presence.UNREACHABLE
    return Presence.ASKED if KNOWN in node.inventory.get("knows", ()) else Presence.TOO_OLD


def _open(check: Check, attempt: Attempt | None) -> dict[str, Any]:
    low, high = settings.RENDEZVOUS_PORTS
    taken = attempt.master_port if attempt is not None else None
    if taken is not None and low < taken <= high:  # that one is to be free when the attempt starts
        low, high = (low, taken - 1) if taken - low > high - taken else (taken + 1, high)
    folder = attempt.run.spec.get("workdir", "") if attempt is not None else ""
    return {"check": check.pk, "ports": [low, high], "folder": folder, "lasts": LASTS_S}


def _measure(check: Check) -> None:
    there = list(check.nodes.filter(presence=Presence.OPENED).values_list("place", flat=True))
    turns = schedule.everybody(there)
    if not turns:  # one node alone has no links
        check.nodes.filter(presence=Presence.OPENED).update(presence=Presence.MEASURED)
        _conclude(check)
        return
    limit = min(LONGEST_TURN_S, MEASURING_S / len(turns))
    window = WINDOW_S if len(turns) <= MANY_TURNS else SHORT_WINDOW_S
    _order_probes(check, Stage.MEASURING, turns, limit, window)


def _repeat(check: Check) -> None:
    """What looked bad once may have been somebody else's traffic: it is measured again before anybody is blamed."""
    _nodes, verdict = verdict_of(check)
    turns = schedule.some(suspects(verdict.cells), MOST_REPEATS)
    if not turns:
        _conclude(check)
        return
    _order_probes(check, Stage.REPEATING, turns, min(LONGEST_TURN_S, REPEATING_S / len(turns)), 2 * WINDOW_S)


def _order_probes(check: Check, stage: Stage, turns: list[list[schedule.Pair]], limit: float, window: float) -> None:
    until = timezone.now() + timedelta(seconds=limit * len(turns) + ANSWER_S)
    Check.objects.filter(pk=check.pk).update(stage=stage, stage_until=until)
    nodes = list(check.nodes.select_related("node"))
    peers = [_peer(one) for one in nodes]
    for one in nodes:
        own = schedule.of_place(turns, one.place)
        if one.node is None or not any(place >= 0 for place in own):
            continue
        CheckedNode.objects.filter(pk=one.pk).update(presence=Presence.OPENED)
        order_of_node(
            CommandKind.PROBE,
            one.node,
            check=check.pk,
            stage=stage,
            place=one.place,
            peers=peers,
            turns=own,
            limit=limit,
            window=window,
        )


def _peer(one: CheckedNode) -> dict[str, Any]:
    address = one.node.address if one.node is not None else ""
    return {"node": one.node_uid, "address": address, "port": one.port, "meeting_port": one.meeting_port}


def _conclude(check: Check) -> None:
    _nodes, verdict = verdict_of(check)
    outcome.write(check, verdict)
    if check.attempt_id is not None:
        outcome.act(check, verdict)


def _forget_old() -> None:
    """Of checks that people asked for, the newest ones are history enough."""
    asked = Check.objects.filter(attempt=None).order_by("-pk").values_list("pk", flat=True)
    Check.objects.filter(pk__in=list(asked[KEPT : KEPT + 50])).delete()
