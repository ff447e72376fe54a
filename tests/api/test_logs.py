"""Logs over HTTP: one rank's bytes as they were, or the lines of all ranks."""

import json
from typing import Any

import pytest
import zstandard
from django.utils import timezone

from tests import builders
from tests.api.asking import Asker, asker, body
from webapp.runs.models import Attempt, Status
from webapp.telemetry.models import LogChunk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def attempt() -> Attempt:
    return builders.running_attempt(nodes=1, ranks_per_node=2)


@pytest.fixture
def ask(attempt: Attempt) -> Asker:
    return asker(attempt.run.owner)


def store(attempt: Attempt, rank: int, data: bytes) -> None:
    last = attempt.logs.filter(rank=rank).order_by("-offset").first()
    LogChunk.objects.create(
        attempt=attempt,
        rank=rank,
        offset=last.offset + last.length if last else 0,
        length=len(data),
        lines=data.count(b"\n"),
        at=timezone.now(),
        payload=zstandard.ZstdCompressor().compress(data),
    )


def lines(ask: Asker, attempt: Attempt, **query: Any) -> list[dict[str, Any]]:
    text = body(ask.get(f"/runs/{attempt.run.uid}/logs", **query)).decode()
    return [json.loads(line) for line in text.splitlines()]


def test_one_ranks_bytes_are_exactly_what_it_wrote(ask: Asker, attempt: Attempt) -> None:
    wrote = [b"plain\n", b"\xff\xfe\x00 not utf-8\r\n", "é½".encode()[:3], b"\n\n", b"x" * 100_000, b"no end"]
    for data in wrote:
        store(attempt, 1, data)
    store(attempt, 0, b"other rank\n")
    response = ask.get(f"/runs/{attempt.run.uid}/logs", rank=1)
    assert body(response) == b"".join(wrote)
    assert response["Content-Type"] == "text/plain"
    assert response["X-Log-End"] == str(len(b"".join(wrote)))


@pytest.mark.parametrize("after", [0, 1, 5, 6, 7, 11, 12, 99])
def test_reading_goes_on_at_any_byte(ask: Asker, attempt: Attempt, after: int) -> None:
    store(attempt, 0, b"first\n")
    store(attempt, 0, b"second")
    response = ask.get(f"/runs/{attempt.run.uid}/logs", rank=0, after=after)
    assert body(response) == b"first\nsecond"[after:]


def test_the_launcher_is_rank_minus_one(ask: Asker, attempt: Attempt) -> None:
    store(attempt, -1, b"torchrun says\n")
    assert body(ask.get(f"/runs/{attempt.run.uid}/logs", rank=-1)) == b"torchrun says\n"
    assert body(ask.get(f"/runs/{attempt.run.uid}/logs", rank=1)) == b""


def test_lines_of_all_ranks_come_in_the_order_of_arrival(ask: Asker, attempt: Attempt) -> None:
    store(attempt, 0, b"a0\nbro")
    store(attempt, 1, b"a1\n")
    store(attempt, 0, b"ken\nopen")
    assert [(line["rank"], line["text"]) for line in lines(ask, attempt)] == [(0, "a0"), (1, "a1"), (0, "broken")]


def test_following_lines_neither_loses_nor_repeats_one(ask: Asker, attempt: Attempt) -> None:
    store(attempt, 0, b"one\ntw")
    seen = lines(ask, attempt)
    store(attempt, 0, b"o\nthr")
    seen += lines(ask, attempt, after=seen[-1]["cursor"])
    store(attempt, 0, b"ee")
    assert lines(ask, attempt, after=seen[-1]["cursor"]) == []
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED)
    seen += lines(ask, attempt, after=seen[-1]["cursor"])
    assert [line["text"] for line in seen] == ["one", "two", "three"]


def test_bytes_that_are_no_utf8_are_shown_as_such(ask: Asker, attempt: Attempt) -> None:
    store(attempt, 0, b"\xff ok\n")
    assert lines(ask, attempt)[0]["text"] == "\ufffd ok"
