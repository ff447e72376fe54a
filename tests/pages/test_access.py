"""Who gets which page: logged out, stranger, viewer, editor, admin, superuser."""

import pytest

from tests import builders
from tests.pages.people import KINDS, Team, team
from webapp.accounts.models import ApiToken, User
from webapp.projects.models import Membership, Project
from webapp.runs.models import Run

pytestmark = pytest.mark.django_db

LOGIN = 302


@pytest.fixture
def people() -> Team:
    return team()


def statuses(people: Team, method: str, url: str, **data: str) -> dict[str, int]:
    return {kind: getattr(people.client(kind), method)(url, data).status_code for kind in KINDS}


def test_login_is_open_and_lists_need_it(people: Team) -> None:
    assert people.client("logged_out").get("/accounts/login/").status_code == 200
    for url in (
        "/",
        "/launch/",
        "/launch/slots",
        "/nodes/",
        "/projects/",
        "/accounts/tokens/",
        "/accounts/password/change/",
        "/dumps/",
    ):
        found = statuses(people, "get", url)
        assert found.pop("logged_out") == LOGIN, url
        assert set(found.values()) == {200}, url


def test_a_project_is_found_by_its_members_only(people: Team) -> None:
    assert statuses(people, "get", "/projects/demo/") == {
        "logged_out": LOGIN, "stranger": 404, "viewer": 200, "editor": 200, "admin": 200, "superuser": 200,
    }  # fmt: skip


def test_only_an_admin_changes_members_and_limits(people: Team) -> None:
    builders.user("newcomer")
    wanted = {"logged_out": LOGIN, "stranger": 404, "viewer": 403, "editor": 403}
    for kind, status in wanted.items():
        answer = people.client(kind).post("/projects/demo/members/", {"username": "newcomer", "role": "viewer"})
        assert answer.status_code == status
        answer = people.client(kind).post("/projects/demo/lost-nodes", {"lost_node_limit_s": "90"})
        assert answer.status_code == status
    assert Project.objects.get(slug="demo").lost_node_limit_s is None
    assert not Membership.objects.filter(user__username="newcomer").exists()
    viewer = Membership.objects.get(user__username="viewer")
    for kind, status in wanted.items():
        assert people.client(kind).post(f"/projects/demo/members/{viewer.pk}/remove").status_code == status
        changed = people.client(kind).post(f"/projects/demo/members/{viewer.pk}/role", {"role": "admin"})
        assert changed.status_code == status
    people.client("admin").post("/projects/demo/members/", {"username": "newcomer", "role": "viewer"})
    assert Membership.objects.get(user__username="newcomer").role == "viewer"


def test_only_an_editor_launches_into_a_project(people: Team) -> None:
    builders.node(slots=2)
    form = {
        "project": "demo",
        "name": "mine",
        "command": "train.py",
        "source": "none",
        "nodes": "1",
        "ranks_per_node": "1",
        "grace": "20",
        "stop_signal": "SIGTERM",
        "retries": "0",
        "env-TOTAL_FORMS": "0",
        "env-INITIAL_FORMS": "0",
    }
    assert statuses(people, "post", "/launch/", **form) == {
        "logged_out": LOGIN, "stranger": 422, "viewer": 422, "editor": 302, "admin": 302, "superuser": 302,
    }  # fmt: skip
    assert Run.objects.count() == 3


def test_running_again_needs_the_right_to_launch_where_it_ran(people: Team) -> None:
    run = builders.running_attempt(in_project=people.project).run
    assert statuses(people, "get", f"/launch/?from={run.uid}") == {
        "logged_out": LOGIN, "stranger": 404, "viewer": 403, "editor": 200, "admin": 200, "superuser": 200,
    }  # fmt: skip


def test_only_a_superuser_changes_nodes(people: Team) -> None:
    node = builders.node("gpu-a")
    for url in ("/nodes/join-token", f"/nodes/{node.uid}/drain", f"/nodes/{node.uid}/remove"):
        found = statuses(people, "post", url)
        assert found.pop("logged_out") == LOGIN
        assert found.pop("superuser") in (200, 302)
        assert set(found.values()) == {403}, url


def test_a_token_is_revoked_by_its_owner_only(people: Team) -> None:
    token, _secret = ApiToken.issue(User.objects.get(username="viewer"), "mine")
    url = f"/accounts/tokens/{token.pk}/revoke"
    assert people.client("logged_out").post(url).status_code == LOGIN
    assert people.client("superuser").post(url).status_code == 404
    assert ApiToken.objects.count() == 1
    assert people.client("viewer").post(url).status_code == 302
    assert ApiToken.objects.count() == 0


def test_nothing_changes_by_get(people: Team) -> None:
    node = builders.node()
    for url in ("/nodes/join-token", f"/nodes/{node.uid}/remove", "/accounts/tokens/1/revoke"):
        assert people.client("superuser").get(url).status_code == 405
