"""A check from the question to its end, and the attempt that waits for it. What nodes say comes by their own calls."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from tests import builders
from tests.control.cluster import launch
from trainer_agent.wire import messages
from webapp.accounts.models import hash_token
from webapp.nodes.commands import due, to_wire
from webapp.nodes.models import Command, CommandKind, Node, Slot
from webapp.preflight import lifecycle
from webapp.preflight.models import Check, CheckedNode
from webapp.runs import scheduler, wording
from webapp.runs.lifecycle import request_stop
from webapp.runs.models import Attempt
from workers.dispatch import send_commands, sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
PORTS = list(settings.RENDEZVOUS_PORTS)
FACTS = {"disk": {"path": "/srv", "free": 2**40, "writable": True}}


def nodes(*names: str, **fields: Any) -> list[Node]:
    known = {"inventory": {"knows": ["check"]}, **fields}
    return [builders.node(name, token_hash=hash_token(f"token-of-{name}"), **known) for name in names]


def say(name: str, check: Check, what: str, **body: Any) -> int:
    headers = {"Authorization": f"Bearer token-of-{name}"}
    path = f"/agent/v1/checks/{check.pk}/{what}"
    return Client(headers=headers).post(path, body, content_type="application/json").status_code


def opened(check: Check, *names: str) -> None:
    for name in names:
        assert say(name, check, "opened", port=4000, meeting_port=29_400, facts=FACTS) == 200


def measured(check: Check, links: dict[str, dict[str, Any]], stage: str = "measuring") -> None:
    """`links`: name -> other node's name -> what is measured."""
    uids = dict(Node.objects.values_list("name", "uid"))
    for name, others in links.items():
        told = {uids[other]: link for other, link in others.items()}
        assert say(name, check, "measured", stage=stage, links=told) == 200


def orders(kind: CommandKind) -> list[Any]:
    return [to_wire(command) for command in Command.objects.filter(kind=kind).order_by("pk")]


def over(check: Check) -> None:
    """The time of its stage is over; the sweep finds it."""
    Check.objects.filter(pk=check.pk).update(stage_until=timezone.now() - timedelta(seconds=1))
    sweep()
    check.refresh_from_db()


def ok(*others: str, mb_s: float = 100.0) -> dict[str, dict[str, Any]]:
    return {other: {"mb_s": mb_s, "rtt_ms": 0.1} for other in others}


def test_nodes_are_asked_open_measure_each_other_and_are_green():
    check = lifecycle.begin(nodes("a", "b"), by="ana")
    asked = orders(CommandKind.OPEN)
    assert [(order.check, order.ports, len(order.token)) for order in asked] == [(check.pk, PORTS, 64)] * 2
    assert asked[0].token == asked[1].token
    assert asked[0].token not in str(list(Command.objects.values()))
    opened(check, "a")
    assert not orders(CommandKind.PROBE)
    opened(check, "b")
    first, second = orders(CommandKind.PROBE)
    assert (first.place, first.turns, second.place, second.turns) == (0, [1], 1, [0])
    assert [(peer.port, peer.meeting_port) for peer in first.peers] == [(4000, 29_400)] * 2
    measured(check, {"a": ok("b"), "b": ok("a")})
    check.refresh_from_db()
    assert (check.stage, check.level, check.findings) == ("done", "green", [])
    assert not due(timezone.now()).exists()


def test_what_looks_bad_is_measured_once_more_before_anybody_is_blamed():
    check = lifecycle.begin(nodes("a", "b", "c"), by="ana")
    opened(check, "a", "b", "c")
    slow = {"a": {**ok("b"), **ok("c", mb_s=5.0)}, "b": ok("a", "c"), "c": ok("a", "b")}
    measured(check, slow)
    check.refresh_from_db()
    again = [order for order in orders(CommandKind.PROBE) if order.stage == "repeating"]
    assert [(order.place, order.turns) for order in again] == [(0, [2]), (2, [0])]
    assert say("a", check, "measured", stage="measuring", links={}) == 200  # told twice: it counts once
    measured(check, {"a": ok("c"), "c": ok("a")}, stage="repeating")
    check.refresh_from_db()
    assert (check.stage, check.level) == ("done", "green")


def test_silent_and_old_nodes_are_named_and_hold_nobody_up():
    nodes("a", "c")
    nodes("old", inventory={}, agent_version="0.1.0")
    nodes("gone", last_heard=None)
    check = lifecycle.begin(list(Node.objects.order_by("name")), by="ana")
    assert len(orders(CommandKind.OPEN)) == 2
    opened(check, "a")
    over(check)
    assert (check.stage, check.level) == ("done", "amber")
    assert {f["kind"]: f["nodes"] for f in check.findings} == {
        "silent": ["c"],
        "too_old": ["old"],
        "unreachable": ["gone"],
    }


def test_a_node_that_never_tells_its_links_is_amber_after_its_time():
    check = lifecycle.begin(nodes("a", "b"), by="ana")
    opened(check, "a", "b")
    measured(check, {"a": ok("b")})
    over(check)
    assert (check.stage, check.level, check.findings[0]["kind"]) == ("done", "amber", "unmeasured")


def test_only_who_was_asked_may_answer_and_only_in_the_right_shape():
    check = lifecycle.begin(nodes("a"), by="ana")
    nodes("b")
    assert say("b", check, "opened", port=1) == 404
    assert say("nobody", check, "opened", port=1) == 404
    assert say("a", check, "opened", port="x") == 400
    assert CheckedNode.objects.get().presence == "asked"


def test_the_past_of_a_pair_counts_from_three_checks_on():
    pair = nodes("a", "b")
    for rate, level in ((100.0, "green"), (110.0, "green"), (90.0, "green"), (20.0, "red")):
        check = lifecycle.begin(pair, by="ana")
        opened(check, "a", "b")
        told = {"a": ok("b", mb_s=rate), "b": ok("a", mb_s=rate)}
        measured(check, told)
        measured(check, told, stage="repeating")
        check.refresh_from_db()
        assert (check.stage, check.level) == ("done", level)
    assert {f["told"]["expected"] for f in check.findings} == {100.0}


def waiting() -> tuple[Attempt, Check]:
    """An attempt that is placed and waits for the check of its nodes."""
    nodes("a", "b")
    launch(nodes=2, ranks_per_node=2, preflight=True, workdir="/srv/code")
    assert scheduler.place_queued() == 1
    return Attempt.objects.get(), Check.objects.get()


def test_an_attempt_starts_only_once_its_nodes_are_checked():
    attempt, check = waiting()
    assert (attempt.status, check.attempt, orders(CommandKind.START)) == ("starting", attempt, [])
    low, high = orders(CommandKind.OPEN)[0].ports
    assert not low <= (attempt.master_port or 0) <= high
    assert orders(CommandKind.OPEN)[0].folder == "/srv/code"
    opened(check, "a", "b")
    measured(check, {"a": ok("b"), "b": ok("a")})
    assert len(orders(CommandKind.START)) == 2
    assert isinstance(orders(CommandKind.START)[0], messages.StartAttempt)
    event = attempt.run.events.get(kind="checked")
    assert wording.event_text(event) == "The nodes are checked. All 2 nodes and their links are in line."
    over(check)
    assert len(orders(CommandKind.START)) == 2


def test_red_ends_the_attempt_with_its_cause_and_frees_its_slots():
    attempt, check = waiting()
    opened(check, "a", "b")
    cut = {"a": {}, "b": {"a": {"error": "silent", "meeting": "silent"}}}
    measured(check, cut)
    measured(check, cut, stage="repeating")
    attempt.refresh_from_db()
    assert (attempt.status, attempt.outcome, attempt.cause, attempt.reason) == (
        "ended",
        "failed",
        "network",
        "preflight",
    )
    assert "a and b cannot reach each other: nothing answers." in wording.outcome_sentence(attempt)
    assert "check" in wording.next_step(attempt)
    assert orders(CommandKind.START) == []
    assert not Slot.objects.exclude(attempt=None).exists()


def test_a_sick_node_is_the_cause_when_the_links_are_well():
    attempt, check = waiting()
    assert say("a", check, "opened", port=1, facts={"disk": {"path": "/srv/code", "free": None}}) == 200
    opened(check, "b")
    measured(check, {"a": ok("b"), "b": ok("a")})
    attempt.refresh_from_db()
    assert (attempt.outcome, attempt.cause) == ("failed", "node")
    assert wording.outcome_sentence(attempt).endswith("/srv/code is not there on a.")


def test_nodes_that_do_not_answer_do_not_keep_a_run_from_starting():
    attempt, check = waiting()
    over(check)
    assert (check.level, len(orders(CommandKind.START))) == ("amber", 2)
    attempt.refresh_from_db()
    assert attempt.status == "starting"


def test_a_run_that_is_stopped_meanwhile_ends_at_once_and_is_not_started_later():
    attempt, check = waiting()
    request_stop(attempt.run, "ana")
    attempt.refresh_from_db()
    assert (attempt.status, attempt.outcome) == ("ended", "stopped")
    over(check)
    assert (check.stage, orders(CommandKind.START)) == ("done", [])


def test_orders_of_a_check_go_out_once_and_not_when_they_are_late(redis_client):
    check = lifecycle.begin(nodes("a"), by="ana")
    send_commands()
    stream = f"pl:cmd:{CheckedNode.objects.get().node_uid}"
    assert redis_client.xlen(stream) == 1
    Command.objects.update(
        created_at=timezone.now() - timedelta(minutes=1), sent_at=timezone.now() - timedelta(minutes=1)
    )
    send_commands()
    assert redis_client.xlen(stream) == 1
    over(check)
    assert check.stage == "done"
