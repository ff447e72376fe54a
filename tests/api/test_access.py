"""Who may do what over HTTP: nobody, a stranger, a viewer, an editor, an admin."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import builders
from tests.api.asking import Asker, asker
from webapp.accounts.models import ApiToken
from webapp.projects.models import Role
from webapp.runs.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

READS = [
    "",
    "/metrics",
    "/metrics?name=phase/step",
    "/logs",
    "/logs?rank=0",
    "/incidents",
    "/autopsies",
    "/ledger",
    "/events",
]
STRANGER, VIEWER, EDITOR, ADMIN = "stranger", "vera", "ed", "ada"


@pytest.fixture
def run() -> Run:
    builders.user(STRANGER)
    project = builders.project("demo", vera=Role.VIEWER, ed=Role.EDITOR, ada=Role.ADMIN)
    builders.node(slots=8)
    return builders.running_attempt(in_project=project).run


@pytest.mark.parametrize("path", READS)
def test_strangers_find_nothing_and_members_read(run: Run, path: str) -> None:
    address = f"/runs/{run.uid}{path}"
    assert Asker("").get(address).status_code == 401
    assert asker(STRANGER).get(address).status_code == 404
    for name in (VIEWER, EDITOR, ADMIN):
        assert asker(name).get(address).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "content", "success"),
    [
        ("patch", "", {"name": "renamed"}, 200),
        ("post", "/stop", None, 200),
        ("post", "/restart", None, 409),
        ("post", "/autopsy", None, 409),
        ("delete", "", None, 204),
    ],
)
@pytest.mark.parametrize(("name", "status"), [("", 401), (STRANGER, 404), (VIEWER, 403), (EDITOR, None), (ADMIN, None)])
def test_only_editors_and_admins_change_a_run(
    run: Run, method: str, path: str, content: object, success: int, name: str, status: int | None
) -> None:
    who = asker(name) if name else Asker("")
    address = f"/runs/{run.uid}{path}"
    response = who.delete(address) if method == "delete" else getattr(who, method)(address, content)
    assert response.status_code == (status or success), response.content


@pytest.mark.parametrize(("name", "status"), [("", 401), (STRANGER, 404), (VIEWER, 403), (EDITOR, 201), (ADMIN, 201)])
def test_only_editors_and_admins_start_runs(run: Run, name: str, status: int) -> None:
    who = asker(name) if name else Asker("")
    response = who.post("/runs", {"project": "demo", "name": "new", "argv": ["/srv/train.py"]})
    assert response.status_code == status, response.content
    assert Run.objects.count() == (2 if status == 201 else 1)


def test_lists_hold_only_what_the_person_may_see(run: Run) -> None:
    assert asker(STRANGER).get("/runs").json() == []
    assert asker(STRANGER).get("/projects").json() == []
    assert [row["id"] for row in asker(VIEWER).get("/runs").json()] == [run.uid]
    assert asker(VIEWER).get("/projects").json()[0] == {
        "slug": "demo",
        "name": "demo",
        "role": "viewer",
        "created_at": asker(VIEWER).get("/projects").json()[0]["created_at"],
    }


def test_a_slot_names_its_run_only_to_those_who_may_see_it(run: Run) -> None:
    def named(who: str) -> set[str | None]:
        return {slot["run"] for node in asker(who).get("/nodes").json() for slot in node["slots"]}

    assert named(VIEWER) == {run.uid, None}
    assert named(STRANGER) == {None}


def test_a_deleted_run_is_gone_for_everybody(run: Run) -> None:
    assert asker(EDITOR).delete(f"/runs/{run.uid}").status_code == 204
    assert asker(ADMIN).get(f"/runs/{run.uid}").status_code == 404


def test_expired_revoked_and_switched_off_tokens_are_refused(run: Run) -> None:
    person = builders.user("old")
    past = timezone.now() - timedelta(seconds=1)
    _row, expired = ApiToken.issue(person, "expired", expires_at=past)
    refused = Asker(expired).get("/me")
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
    assert "expired" in refused.json()["message"]

    row, secret = ApiToken.issue(person, "good")
    assert Asker(secret).get("/me").json() == {"username": "old", "name": ""}
    person.is_active = False
    person.save()
    assert Asker(secret).get("/me").status_code == 401
    person.is_active = True
    person.save()
    row.delete()
    assert Asker(secret).get("/me").status_code == 401


def test_a_wrong_token_is_refused_even_with_a_good_session(run: Run) -> None:
    client = Client()
    client.force_login(run.owner)
    assert client.get("/api/v1/me").status_code == 200
    assert client.get("/api/v1/me", headers={"Authorization": "Bearer nonsense"}).status_code == 401


def test_the_browser_reads_by_session_and_writes_only_with_its_csrf_token(run: Run) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(run.owner)
    assert client.get(f"/api/v1/runs/{run.uid}").status_code == 200
    refused = client.post(f"/api/v1/runs/{run.uid}/stop")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    run.refresh_from_db()
    assert run.status == "running"


def test_use_of_a_token_is_noted_at_most_once_a_minute(run: Run) -> None:
    row, secret = ApiToken.issue(run.owner, "ci")
    Asker(secret).get("/me")
    row.refresh_from_db()
    first = row.last_used_at
    assert first is not None
    Asker(secret).get("/me")
    row.refresh_from_db()
    assert row.last_used_at == first
    ApiToken.objects.filter(pk=row.pk).update(last_used_at=first - timedelta(seconds=61))
    Asker(secret).get("/me")
    row.refresh_from_db()
    assert row.last_used_at is not None
    assert row.last_used_at >= first


def test_people_manage_only_their_own_tokens(run: Run) -> None:
    mine = asker(EDITOR)
    made = mine.post("/tokens", {"name": "ci", "days": 3})
    assert made.status_code == 201
    assert Asker(made.json()["token"]).get("/me").json()["username"] == EDITOR
    assert "token" not in mine.get("/tokens").json()[0]
    address = f"/tokens/{made.json()['id']}"
    assert asker(VIEWER).delete(address).status_code == 404
    assert mine.delete(address).status_code == 204
    assert Asker(made.json()["token"]).get("/me").status_code == 401
