"""Members see a run's page, editors stop and delete, strangers do not learn that it exists."""

import pytest
from django.urls import reverse

from tests.pages.people import KINDS, Team, team
from tests.runpage import stored
from webapp.nodes.models import Command, CommandKind
from webapp.runs.models import Attempt, Run, Status

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

READS = ("detail", "header", "panels", "keys", "logs", "raw_log", "ledger")
QUESTIONS = {"panels": "?ids=step_time"}
SEES = {"logged_out": 302, "stranger": 404, "viewer": 200, "editor": 200, "admin": 200, "superuser": 200}
ACTS = {"logged_out": 302, "stranger": 404, "viewer": 403, "editor": 302, "admin": 302, "superuser": 302}


@pytest.fixture
def attempt() -> Attempt:
    return stored.run_with_steps(team().project)


def address(attempt: Attempt, name: str) -> str:
    return reverse(f"runs:{name}", args=[attempt.run.uid]) + QUESTIONS.get(name, "")


@pytest.mark.parametrize("name", READS)
def test_members_read_and_nobody_else(attempt: Attempt, name: str) -> None:
    client = Team(attempt.run.project).client
    found = {kind: client(kind).get(address(attempt, name)).status_code for kind in KINDS}
    assert found == SEES


@pytest.mark.parametrize("name", ["stop", "delete"])
def test_editors_act_and_viewers_may_not(attempt: Attempt, name: str) -> None:
    client = Team(attempt.run.project).client
    for kind in ("logged_out", "stranger", "viewer", "editor"):
        answer = client(kind).post(address(attempt, name))
        assert answer.status_code == ACTS[kind], kind
    assert client("editor").get(address(attempt, name)).status_code == 405


def test_a_viewer_gets_no_buttons_that_would_be_refused(attempt: Attempt) -> None:
    client = Team(attempt.run.project).client
    assert 'data-test="stop"' not in client("viewer").get(address(attempt, "detail")).content.decode()
    assert 'data-test="stop"' in client("editor").get(address(attempt, "detail")).content.decode()


def test_stop_orders_every_node_and_the_page_says_stopping(attempt: Attempt) -> None:
    client = Team(attempt.run.project).client("editor")
    page = client.post(address(attempt, "stop"), follow=True).content.decode()
    assert Run.objects.get().status == Status.STOPPING
    assert Command.objects.filter(kind=CommandKind.STOP).count() == 2
    assert "data-until" in page
    assert "nothing to stop" in client.post(address(attempt, "stop"), follow=True).content.decode()


def test_a_deleted_run_is_gone_for_everybody(attempt: Attempt) -> None:
    client = Team(attempt.run.project).client("editor")
    answer = client.post(address(attempt, "delete"), follow=True)
    assert f"{attempt.run.name} is deleted." in answer.content.decode()
    for name in READS:
        assert client.get(address(attempt, name)).status_code == 404
