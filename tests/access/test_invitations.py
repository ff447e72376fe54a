"""Into a project by a link that works once."""

from datetime import timedelta

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from tests import builders
from webapp.accounts.models import User
from webapp.audit.models import Entry, Verb
from webapp.invitations.models import Invitation
from webapp.projects.models import Membership, Project, Role

pytestmark = pytest.mark.django_db
_SIGN_UP = {"email": "new@example.org", "username": "new", "password1": "a long phrase", "password2": "a long phrase"}


@pytest.fixture(autouse=True)
def _no_old_attempts() -> None:
    cache.clear()  # allauth counts attempts there


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ada=Role.ADMIN)


def browser(who: str = "") -> Client:
    client = Client()
    if who:
        client.force_login(User.objects.get(username=who))
    return client


def link_to(project: Project, role: str = "editor") -> str:
    """The path of a fresh invitation's link."""
    form = {"email": "new@example.org", "role": role}
    answer = browser("ada").post(f"/projects/{project.slug}/invitations/", form)
    assert answer.status_code == 200
    return str(answer.context["link"]).removeprefix("http://127.0.0.1:8000")


def test_nobody_signs_up_without_an_invitation() -> None:
    assert "You need an invitation" in browser().get("/accounts/signup/").content.decode()
    browser().post("/accounts/signup/", _SIGN_UP)
    assert not User.objects.exists()


def test_an_invited_person_signs_up_and_is_in_the_project(project: Project) -> None:
    link = link_to(project)
    new = browser()
    assert "ada invites you to the project demo as editor" in new.get(link).content.decode()
    assert "new@example.org" in new.get("/accounts/signup/").content.decode()
    assert new.post("/accounts/signup/", _SIGN_UP).status_code == 302
    assert Membership.objects.get(user__username="new").role == "editor"
    assert new.get("/projects/demo/").status_code == 200
    assert browser().get(link).status_code == 404
    assert Entry.objects.filter(verb=Verb.INVITATION_ACCEPTED, actor_name="new", project=project).exists()


def test_a_person_with_an_account_accepts_and_keeps_the_greater_role(project: Project) -> None:
    builders.user("ben")
    assert browser("ben").post(link_to(project)).headers["Location"] == "/projects/demo/"
    assert Membership.objects.get(user__username="ben").role == "editor"
    browser("ben").post(link_to(project, "viewer"))
    assert Membership.objects.get(user__username="ben").role == "editor"


def test_a_link_that_was_taken_back_or_is_old_opens_nothing(project: Project) -> None:
    builders.user("ben")
    taken_back = link_to(project)
    assert browser("ada").post(f"/invitations/{Invitation.objects.get().pk}/revoke").status_code == 302
    old = link_to(project)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for link in (taken_back, old):
        assert browser("ben").post(link).status_code == 404
    assert not Membership.objects.filter(user__username="ben").exists()


def test_the_link_is_not_kept(project: Project) -> None:
    secret = link_to(project).rstrip("/").rpartition("/")[2]
    assert Invitation.objects.get().token_hash != secret
    assert secret not in browser("ada").get("/projects/demo/invitations/").content.decode()


def test_the_invitation_goes_out_by_mail_where_a_server_is_set(project: Project, settings: object) -> None:
    settings.EMAIL_URL = "smtp://mail.example.org"  # type: ignore[attr-defined]
    link = link_to(project)
    assert link in mail.outbox[0].body
    assert mail.outbox[0].to == ["new@example.org"]
