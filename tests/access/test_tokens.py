"""Scopes of tokens, and tokens that belong to a project."""

import pytest
from django.test import Client

from tests import builders
from tests.api.asking import Asker
from webapp.accounts.models import ApiToken, User
from webapp.audit.models import Entry, Verb
from webapp.projects.models import Membership, Project, Role

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
_RUN = {"project": "demo", "name": "new", "argv": ["/srv/train.py"]}


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ada=Role.ADMIN)


@pytest.fixture
def ada(project: Project) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    return client


def test_a_token_that_may_only_read_is_told_which_scope_it_lacks(project: Project) -> None:
    _row, secret = ApiToken.issue(User.objects.get(username="ada"), "reader", scope="read")
    assert Asker(secret).get("/projects").status_code == 200
    refused = Asker(secret).post("/runs", _RUN)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope")
    assert "“write”" in refused.json()["message"]


def test_tokens_from_before_scopes_may_do_what_they_did(project: Project) -> None:
    _row, secret = ApiToken.issue(User.objects.get(username="ada"), "old")
    assert Asker(secret).post("/tokens", {"name": "next"}).status_code == 201


def test_a_service_token_has_its_role_in_its_project_and_sees_nothing_else(ada: Client) -> None:
    builders.node(slots=8)
    builders.project("other")
    page = ada.post("/projects/demo/tokens/", {"name": "nightly", "role": "editor", "lifetime": "30"})
    nightly = Asker(page.context["secret"])
    assert [row["slug"] for row in nightly.get("/projects").json()] == ["demo"]
    assert nightly.post("/runs", _RUN).status_code == 201
    assert nightly.post("/runs", {**_RUN, "project": "other"}).status_code == 404
    assert nightly.post("/projects/demo/tokens", {"name": "more"}).status_code == 403
    launched = Entry.objects.get(verb=Verb.LAUNCHED)
    assert (launched.token_name, str(launched.project)) == ("nightly", "demo")


def test_a_revoked_service_token_is_refused_and_what_it_launched_stays(ada: Client) -> None:
    builders.node(slots=8)
    secret = ada.post("/projects/demo/tokens/", {"name": "ci", "role": "editor", "lifetime": "0"}).context["secret"]
    run = Asker(secret).post("/runs", _RUN).json()["id"]
    ada.post(f"/projects/demo/tokens/{ApiToken.objects.get(name='ci').pk}/revoke")
    assert Asker(secret).get("/me").status_code == 401
    assert ada.get(f"/runs/{run}/").status_code == 200
    assert Membership.objects.count() == 1


def test_a_service_account_is_no_member_whom_people_see_or_count_on(ada: Client, project: Project) -> None:
    ada.post("/projects/demo/tokens/", {"name": "robot", "role": "admin", "lifetime": "0"})
    assert "service" not in ada.get("/projects/demo/").content.decode()
    mine = Membership.objects.get(user__username="ada")
    ada.post(f"/projects/demo/members/{mine.pk}/remove")
    assert Membership.objects.filter(pk=mine.pk).exists(), "the last person who is admin stays"
