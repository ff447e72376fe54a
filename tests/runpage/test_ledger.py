"""The Ledger tab's words from the database: counts, gaps, what else was dropped, and what to do when it is empty."""

import html

import pytest
from django.test import Client
from django.urls import reverse

from tests import builders
from tests.pages.people import team
from tests.runpage import stored
from webapp.runs.models import Attempt, RankState, RunEvent, Status
from webapp.telemetry.models import LogChunk, Parked

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def attempt() -> Attempt:
    return stored.run_with_steps(team().project)


def ledger(client: Client, attempt: Attempt) -> str:
    client.force_login(attempt.run.owner)
    answer = client.get(reverse("runs:ledger", args=[attempt.run.uid]), {"attempt": attempt.number})
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def test_a_whole_attempt_says_so_first(client: Client, attempt: Attempt) -> None:
    text = ledger(client, attempt)
    assert "Every step that 4 ranks made is stored: 160 of 160." in text
    assert "Nothing else was dropped" in text


def test_a_rank_that_lacks_steps_is_named_with_the_reason(client: Client, attempt: Attempt) -> None:
    RankState.objects.filter(attempt=attempt).update(made=40, sent=40)
    RankState.objects.filter(attempt=attempt, rank=2).update(
        made=52, sent=40, dropped={"steps": 12}, gaps=[[40, 51, "disk_full"]]
    )
    text = ledger(client, attempt)
    assert "Rank 2 lacks steps" in text
    assert "Steps 40 to 51: the node's disk was full." in text


def test_samples_log_lines_and_messages_that_were_left_out_are_told_with_their_node(
    client: Client, attempt: Attempt
) -> None:
    node = attempt.parts.get(node_rank=1).node_name
    RankState.objects.filter(attempt=attempt, rank=3).update(dropped={"values": 7})
    told = {"what": "samples", "count": 1200, "node": node, "reason": "spool_full"}
    RunEvent.objects.create(run=attempt.run, attempt=attempt, kind="dropped", data=told)
    Parked.objects.create(attempt=attempt, node_uid="n-1", seq=7, reason="not a message", size=9, payload=b"x")
    stored.log(attempt, 3, b"line\n")
    LogChunk.objects.filter(attempt=attempt).update(skipped_lines=12_345)
    text = ledger(client, attempt)
    assert f"7 logged values dropped on {node}." in text
    assert f"1,200 samples dropped on {node}." in text
    assert f"12,345 log lines skipped; the whole log is on {node}." in text
    assert "1 message could not be read" in text
    assert "not a message" in text


@pytest.mark.parametrize(
    ("status", "says"),
    [(Status.QUEUED, "waits for its slots"), (Status.RUNNING, "No step yet"), (Status.ENDED, "made no step")],
)
def test_an_attempt_without_steps_says_what_comes_next(client: Client, status: Status, says: str) -> None:
    attempt = builders.running_attempt(1, 2)
    Attempt.objects.update(status=status)
    assert says in ledger(client, attempt)
