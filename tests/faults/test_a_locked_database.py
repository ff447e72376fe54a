"""Somebody holds the database: reading goes on, and what must be written says that it cannot be just now."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from django.db import connection
from django.test import Client

from tests import builders
from tests.api.asking import asker
from webapp.accounts.models import ApiToken, User
from webapp.nodes.enrol import issue_join_token
from webapp.projects.models import Role
from webapp.runs.models import Run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]
ASKED = {"project": "demo", "name": "try", "argv": ["/srv/train.py"], "nodes": 1, "ranks_per_node": 1}


@pytest.fixture
def project():
    builders.node(slots=2)
    return builders.project("demo", ana=Role.EDITOR)


@pytest.fixture
def browser(project) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username="ana"))
    return client


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """The product waits twenty seconds for a lock, a test does not."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout=50")
    yield
    connection.close()


@contextmanager
def locked() -> Iterator[None]:
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield
        lock.execute("ROLLBACK")


def test_pages_are_read_as_ever(project, browser):
    with locked():
        assert [browser.get(path).status_code for path in ("/", "/nodes/", "/projects/demo/")] == [200, 200, 200]


def test_the_api_is_read_as_ever_even_with_a_token_that_was_never_used(project):
    ana = asker("ana")
    with locked():
        assert ana.get("/runs").status_code == 200
    assert ana.get("/runs").status_code == 200
    assert ApiToken.objects.get().last_used_at is not None


def test_a_page_that_must_write_says_what_is_going_on(project, browser):
    with locked():
        answer = browser.post("/projects/", {"name": "Other", "slug": "other"})
    text = answer.content.decode()
    assert answer.status_code == 503
    assert "The database is busy" in text
    assert "Try again in a moment" in text
    assert "Traceback" not in text
    assert int(answer["Retry-After"]) > 0


def test_the_api_says_unavailable_and_the_same_call_works_once_the_lock_is_gone(project):
    ana = asker("ana")
    ana.get("/runs")
    with locked():
        refused = ana.post("/runs", ASKED)
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert "busy" in refused.json()["message"]
    assert Run.objects.count() == 0
    assert ana.post("/runs", ASKED).status_code == 201


def test_a_node_that_joins_is_told_to_come_again_and_its_token_still_works():
    inventory = {"hostname": "gpu-a", "address": "127.0.0.1", "slots": [{"index": 0, "kind": "cpu", "model": "CPU"}]}
    call = {"token": issue_join_token(None), "name": "gpu-a", "slots": 1, "inventory": inventory}
    with locked():
        refused = Client().post("/agent/v1/join", call, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert Client().post("/agent/v1/join", call, content_type="application/json").status_code == 200


def test_a_statement_that_is_wrong_is_our_fault_and_not_called_busy(project):
    ana = asker("ana")
    ana.get("/runs")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE runs_run RENAME COLUMN deleted_at TO gone")
    try:
        answer = ana.get("/runs")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE runs_run RENAME COLUMN gone TO deleted_at")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
