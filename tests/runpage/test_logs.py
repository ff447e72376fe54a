"""The log pane's lines, and the bytes as the ranks wrote them."""

import io
import tarfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.pages.people import team
from tests.runpage import stored
from webapp.runs.models import Attempt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

NOT_TEXT = b"\xff\xfe\x00\x1b[31mred\r\n" + bytes(range(256)) * 700 + b"no newline at the end"


@pytest.fixture
def attempt(client: Client) -> Attempt:
    attempt = stored.run_with_steps(team().project, 2)
    client.force_login(attempt.run.owner)
    return attempt


def lines(client: Client, attempt: Attempt, **query: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(reverse("runs:logs", args=[attempt.run.uid]), query).json()
    return found


def raw(client: Client, attempt: Attempt, **query: str) -> Any:
    return client.get(reverse("runs:raw_log", args=[attempt.run.uid]), query)


def test_equal_lines_of_many_ranks_are_one_entry(client: Client, attempt: Attempt) -> None:
    for rank in range(4):
        stored.log(attempt, rank, b"NCCL INFO ready\n")
    [entry] = lines(client, attempt)["lines"]
    assert entry["ranks"] == [0, 1, 2, 3]
    assert entry["text"] == "NCCL INFO ready"


def test_rank_and_words_choose_lines_and_the_cursor_brings_only_what_is_new(client: Client, attempt: Attempt) -> None:
    stored.log(attempt, 0, b"alpha\nbeta\n")
    stored.log(attempt, 1, b"gamma\n")
    assert [e["text"] for e in lines(client, attempt, rank="0")["lines"]] == ["alpha", "beta"]
    assert [e["text"] for e in lines(client, attempt, q="GAM")["lines"]] == ["gamma"]
    cursor = lines(client, attempt)["after"]
    stored.log(attempt, 1, b"delta\n")
    assert [e["text"] for e in lines(client, attempt, after=str(cursor))["lines"]] == ["delta"]


def test_a_rank_that_is_no_number_gets_a_sentence(client: Client, attempt: Attempt) -> None:
    answer = client.get(reverse("runs:logs", args=[attempt.run.uid]), {"rank": "first"})
    assert answer.status_code == 400
    assert "whole number" in answer.json()["error"]


def test_a_raw_log_has_the_very_bytes(client: Client, attempt: Attempt) -> None:
    stored.log(attempt, 2, NOT_TEXT)
    answer = raw(client, attempt, rank="2")
    assert b"".join(answer.streaming_content) == NOT_TEXT
    assert answer["Content-Disposition"] == f'attachment; filename="{attempt.run.uid}-1-rank2.log"'


def test_the_archive_has_every_rank_and_the_launchers(client: Client, attempt: Attempt) -> None:
    written = {0: b"zero\n", 2: NOT_TEXT, -1: b"torchrun\n", -2: b"", 3: b"x" * 512}
    for rank, data in written.items():
        stored.log(attempt, rank, data)
    answer = raw(client, attempt)
    with tarfile.open(fileobj=io.BytesIO(b"".join(answer.streaming_content)), mode="r:gz") as archive:
        found = {name.split("/")[1]: archive.extractfile(name).read() for name in archive.getnames()}  # type: ignore[union-attr]
    assert found == {
        "rank0.log": b"zero\n",
        "rank2.log": NOT_TEXT,
        "launcher0.log": b"torchrun\n",
        "rank3.log": b"x" * 512,
    }
