"""What nodes told of a launch, on the page and over HTTP, also when a node is gone."""

from typing import Any

import pytest
from django.test import Client

from tests import builders
from tests.api.asking import asker
from trainer_agent.wire.messages import Event
from webapp.accounts.models import User
from webapp.nodes.models import Node
from webapp.projects.models import Role
from webapp.provenance.models import PackageList, Provenance
from webapp.provenance.record import forget_unused
from webapp.runs import secrets
from webapp.runs.lifecycle import apply_event
from webapp.runs.models import Attempt, AttemptNode

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

TOLD: dict[str, Any] = {
    "folder": "/srv/code",
    "python": "3.11.9",
    "executable": "/opt/venv/bin/python",
    "packages": {"torch": "2.4.0", "numpy": "2.0.1"},
    "environment": {"NCCL_DEBUG": "INFO"},
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "branch": "main",
    "remote": "https://example.org/code.git",
    "dirty": True,
    "diff": "diff --git a/t.py b/t.py\n--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-lr = 1\n+lr = 2  # <b>\n",
    "untracked": ["notes.txt"],
}


def tell(attempt: Attempt, node_rank: int, **changed: Any) -> None:
    part = AttemptNode.objects.select_related("node").get(attempt=attempt, node_rank=node_rank)
    apply_event(part, Event(kind="provenance", at=1.0, data={**TOLD, **changed}))


@pytest.fixture
def attempt() -> Attempt:
    project = builders.project("demo", ed=Role.EDITOR)
    return builders.running_attempt(in_project=project)


def page_of(attempt: Attempt) -> str:
    client = Client()
    client.force_login(User.objects.get(username="ed"))
    return client.get(f"/runs/{attempt.run.uid}/provenance").content.decode()


def test_commit_difference_packages_and_environment_are_shown_also_when_the_node_is_gone(attempt: Attempt) -> None:
    tell(attempt, 0)
    Node.objects.get(parts__attempt=attempt, parts__node_rank=0).delete()
    page = page_of(attempt)
    for text in (TOLD["commit"], "torch==2.4.0", "NCCL_DEBUG", "notes.txt", "Changed since its commit", "/opt/venv"):
        assert text in page
    assert '<span class="diff--add">+lr = 2  # &lt;b&gt;\n</span>' in page
    assert '<span class="diff--file">+++ b/t.py\n</span>' in page


def test_nodes_with_other_packages_or_code_are_named(attempt: Attempt) -> None:
    tell(attempt, 0)
    tell(attempt, 1)
    assert "not alike" not in page_of(attempt)
    assert PackageList.objects.count() == 1
    tell(attempt, 1, packages={"torch": "2.3.1", "numpy": "2.0.1"})
    page = page_of(attempt)
    assert "not alike" in page
    assert "torch 2.3.1" in page
    assert "numpy 2.0.1" not in page


def test_the_api_tells_it_and_show_has_the_commit(attempt: Attempt) -> None:
    ed, path = asker("ed"), f"/runs/{attempt.run.uid}"
    assert ed.get(f"{path}/provenance").json() == []
    assert ed.get(path).json()["dirty"] is None
    tell(attempt, 0)
    told = ed.get(f"{path}/provenance").json()[0]
    assert {name: told[name] for name in TOLD} == TOLD
    assert (ed.get(path).json()["commit"], ed.get(path).json()["dirty"]) == (TOLD["commit"], True)
    client = Client()
    client.force_login(User.objects.get(username="ed"))
    whole = client.get(f"{path}/diff")
    assert whole.content.decode() == TOLD["diff"]
    assert whole["Content-Disposition"].startswith("attachment")


def test_no_secret_of_the_run_is_kept_and_nonsense_does_no_harm(attempt: Attempt) -> None:
    secrets.keep(attempt.run, {"KEY": "hushhush"})
    tell(attempt, 0, diff="+key = 'hushhush'\n", environment={"A": "x hushhush", "B": 3}, packages=[1], untracked=None)
    row = asker("ed").get(f"/runs/{attempt.run.uid}/provenance").json()[0]
    assert "hushhush" not in str(row)
    assert (row["packages"], row["untracked"], row["environment"]["B"]) == ({}, [], "3")


def test_a_list_of_packages_goes_with_the_last_launch_that_names_it(attempt: Attempt) -> None:
    tell(attempt, 0)
    Provenance.objects.all().delete()
    forget_unused()
    assert not PackageList.objects.exists()
