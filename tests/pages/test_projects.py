"""Projects and their members."""

import pytest
from django.test import Client

from tests import builders
from webapp.accounts.models import User
from webapp.projects.models import Membership, Project, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def page() -> Client:
    builders.project("demo", ana=Role.ADMIN, ben=Role.VIEWER)
    client = Client()
    client.force_login(User.objects.get(username="ana"))
    return client


def membership(name: str) -> Membership:
    return Membership.objects.get(project__slug="demo", user__username=name)


def test_anybody_makes_a_project_and_is_its_admin() -> None:
    client = Client()
    client.force_login(builders.user("carla"))
    answer = client.post("/projects/", {"name": "Speech Models", "slug": ""})
    assert answer.headers["Location"] == "/projects/speech-models/"
    assert Membership.objects.get().role == Role.ADMIN


@pytest.mark.parametrize(
    ("form", "says"),
    [({"name": "", "slug": "x"}, "required"), ({"name": "Demo", "slug": "demo"}, "Another project"),
     ({"name": "Demo", "slug": ""}, "Another project"), ({"name": "…", "slug": ""}, "Give a short name"),
     ({"name": "X", "slug": "a b"}, "valid")],
)  # fmt: skip
def test_a_wrong_project_is_refused_in_place(page: Client, form: dict[str, str], says: str) -> None:
    answer = page.post("/projects/", form)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert Project.objects.count() == 1


def test_the_list_shows_only_my_projects(page: Client) -> None:
    builders.project("unseen")
    text = page.get("/projects/").content.decode()
    assert "demo" in text
    assert "unseen" not in text


def test_an_admin_adds_changes_and_removes_a_member(page: Client) -> None:
    builders.user("carla")
    page.post("/projects/demo/members/", {"username": "carla", "role": "editor"})
    carla = membership("carla")
    assert carla.role == "editor"
    page.post(f"/projects/demo/members/{carla.pk}/role", {"role": "admin"})
    assert membership("carla").role == "admin"
    page.post(f"/projects/demo/members/{carla.pk}/remove")
    assert Membership.objects.filter(project__slug="demo").count() == 2


@pytest.mark.parametrize(("name", "says"), [("nobody", "no person"), ("ben", "a member already")])
def test_a_person_who_cannot_be_added_is_refused_in_place(page: Client, name: str, says: str) -> None:
    answer = page.post("/projects/demo/members/", {"username": name, "role": "viewer"})
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert membership("ben").role == "viewer"


def test_the_last_admin_stays(page: Client) -> None:
    ana = membership("ana")
    for url, form in (
        (f"/projects/demo/members/{ana.pk}/role", {"role": "viewer"}),
        (f"/projects/demo/members/{ana.pk}/remove", {}),
    ):
        assert "needs an admin" in page.post(url, form, follow=True).content.decode()
    assert membership("ana").role == "admin"


def test_an_admin_who_leaves_goes_back_to_the_list(page: Client) -> None:
    Membership.objects.filter(user__username="ben").update(role="admin")
    answer = page.post(f"/projects/demo/members/{membership('ana').pk}/remove")
    assert answer.headers["Location"] == "/projects/"


def test_a_member_of_another_project_cannot_be_reached_through_this_one(page: Client) -> None:
    builders.project("other", carla=Role.ADMIN)
    carla = Membership.objects.get(user__username="carla")
    assert page.post(f"/projects/demo/members/{carla.pk}/remove").status_code == 404


@pytest.mark.parametrize(("typed", "kept"), [("30", 30), ("604800", 604_800), ("", None)])
def test_an_admin_says_how_long_a_silent_node_is_waited_for(page: Client, typed: str, kept: int | None) -> None:
    Project.objects.update(lost_node_limit_s=77)
    assert 'value="77"' in page.get("/projects/demo/").content.decode()
    page.post("/projects/demo/lost-nodes", {"lost_node_limit_s": typed})
    assert Project.objects.get().lost_node_limit_s == kept
    assert "Empty: this server&#x27;s 600 seconds." in page.get("/projects/demo/").content.decode()


@pytest.mark.parametrize(("typed", "says"), [("29", "at least 30"), ("604801", "7 days"), ("soon", "whole number")])
def test_a_limit_that_cannot_be_is_refused_in_place(page: Client, typed: str, says: str) -> None:
    answer = page.post("/projects/demo/lost-nodes", {"lost_node_limit_s": typed})
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert Project.objects.get().lost_node_limit_s is None
