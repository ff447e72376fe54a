"""The runs list: what is found, how it is paged, and what a row says."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.utils import timezone

from tests import builders
from webapp.accounts.models import User
from webapp.history.paging import PAGE_SIZE
from webapp.history.paging import page as page_of
from webapp.history.search import search
from webapp.projects.models import Project, Role
from webapp.runs.models import Attempt, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR)


@pytest.fixture
def ana(project: Project) -> User:
    return User.objects.get(username="ana")


@pytest.fixture
def page(ana: User) -> Client:
    client = Client()
    client.force_login(ana)
    return client


def run(project: Project, name: str, status: str = "ended", outcome: str = "", **fields: Any) -> Run:
    owner = fields.pop("owner", None) or User.objects.get(username="ana")
    spec = builders.spec().model_dump()
    row = Run.objects.create(
        project=project, owner=owner, name=name, spec=spec, world_size=4, status=status, outcome=outcome, **fields
    )
    Attempt.objects.create(run=row, number=1, world_size=4, status=status, outcome=outcome)
    return row


def names(answer: Any) -> list[str]:
    return re.findall(r'class="name" href="[^"]*">([^<]*)<', answer.content.decode())


def test_a_search_finds_by_name_id_project_owner_and_node(project: Project, ana: User) -> None:
    wanted = run(project, "gpt-small", "running")
    run(project, "vit-large")
    held = builders.running_attempt(in_project=project)
    held_on = held.parts.first()
    assert held_on is not None
    assert list(search(ana, "GPT")) == [wanted]
    assert list(search(ana, wanted.uid)) == [wanted]
    assert list(search(ana, f"gpt {ana.username} demo")) == [wanted]
    assert list(search(ana, "gpt vit")) == []
    assert list(search(ana, held_on.node_name)) == [held.run]
    assert list(search(ana, "owner:ana status:running")) == [wanted]
    assert list(search(ana, "owner:an")) == []


def test_strangers_and_the_logged_out_find_nothing(project: Project) -> None:
    run(project, "secret-plan")
    assert not search(builders.user(), "secret").exists()
    assert not search(AnonymousUser()).exists()


def test_a_deleted_run_is_not_found(project: Project, ana: User) -> None:
    run(project, "gone", deleted_at=timezone.now())
    assert not search(ana).exists()


def test_each_chip_counts_what_it_shows(project: Project, page: Client) -> None:
    run(project, "a", "running")
    run(project, "b", "starting")
    run(project, "c", "queued")
    run(project, "d", outcome="succeeded")
    run(project, "e", outcome="failed")
    run(project, "f", outcome="lost")
    run(project, "g", outcome="stopped", owner=builders.user("ben"))
    for status, found in (("running", 2), ("queued", 1), ("finished", 1), ("failed", 2), ("stopped", 1), ("", 7)):
        answer = page.get("/", {"status": status})
        assert len(names(answer)) == found
        counted = re.search(
            rf'href="\?{f"status={status}" if status else ""}"[^>]*>\w+ <span class="n">(\d+)', answer.content.decode()
        )
        assert counted is not None
        assert int(counted.group(1)) == found
    assert len(names(page.get("/", {"owner": "ana"}))) == 6


def test_an_unknown_status_finds_nothing_and_says_so(project: Project, page: Client) -> None:
    run(project, "a")
    answer = page.get("/", {"status": "nonsense"})
    assert names(answer) == []
    assert "No run matches" in answer.content.decode()


def test_pages_go_to_the_oldest_and_back_without_gap_or_repeat(project: Project, ana: User) -> None:
    made = timezone.now()
    # Pairs share their time, so that the order also depends on the key.
    rows = [run(project, f"n{i}", created_at=made - timedelta(seconds=i // 2)) for i in range(11)]
    every = [row.pk for row in search(ana)]
    assert sorted(every) == sorted(row.pk for row in rows)
    page = page_of(search(ana), "", 4)
    assert page.newer == ""
    seen = [row.pk for row in page.rows]
    while page.older:
        page = page_of(search(ana), page.older, 4)
        seen += [row.pk for row in page.rows]
    assert seen == every
    assert page.total == 11
    back = page_of(search(ana), page.newer, 4)
    assert [row.pk for row in back.rows] == every[4:8]
    assert [row.pk for row in page_of(search(ana), back.newer, 4).rows] == every[:4]


@pytest.mark.parametrize(
    "cursor", ["x", "older", "older.1", "older.a.b", "newer.1.", f"older.1.{10**40}", f"older.{10**30}.1"]
)
def test_an_unreadable_cursor_shows_the_first_page(project: Project, page: Client, cursor: str) -> None:
    run(project, "a")
    assert names(page.get("/", {"page": cursor})) == ["a"]


def test_a_row_says_what_is_wrong_and_what_it_waits_for(project: Project, page: Client) -> None:
    run(project, "slow", "running", last_step=1366, total_steps=8000, last_loss=3.4121, spark=[4.0, None, 3.5, 3.4],
        health={"kind": "straggler", "rank": 2, "slowdown": 0.31})  # fmt: skip
    run(project, "nan", outcome="failed", loss_text="NaN", detail={"rank": 3, "code": 1})
    waiting = run(project, "waiting", "queued")
    waiting.attempts.update(waits_for={"reason": "slots", "slots": 4, "nodes": 2, "free": 1})
    text = page.get("/").content.decode()
    assert "1,367" in text
    assert "3.412" in text
    assert "rank 2 slow, 31 %" in text
    assert 'class="slow"' in text
    assert "NaN" in text
    assert "rank 3 exit 1" in text
    assert "Waits for 4 slots on 2 nodes" in text
    assert '<path d="M' in text


def test_a_name_is_text_and_never_markup(project: Project, page: Client) -> None:
    run(project, "<script>alert(1)</script>")
    text = page.get("/").content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_the_live_update_brings_the_parts_and_no_page(project: Project, page: Client) -> None:
    row = run(project, "a", "running")
    text = page.get("/", headers={"X-Live": "list"}).content.decode()
    assert f'id="run-{row.uid}"' in text
    assert "<html" not in text
    for part in ("chips", "foot", "run-count", "slots-busy"):
        assert f'id="{part}"' in text


def test_the_empty_list_says_what_to_do_next(project: Project, page: Client) -> None:
    assert "Join a node" in page.get("/").content.decode()
    builders.node()
    assert "paceline submit --project demo" in page.get("/").content.decode()
    stranger = Client()
    stranger.force_login(builders.user("new"))
    assert "Create a project" in stranger.get("/").content.decode()


def test_a_page_of_runs_costs_a_fixed_number_of_queries(
    project: Project, page: Client, django_assert_max_num_queries: Any
) -> None:
    for i in range(40):
        run(project, f"n{i}", "queued" if i % 2 else "ended", owner=None)
    with django_assert_max_num_queries(16):
        assert len(names(page.get("/"))) == PAGE_SIZE
