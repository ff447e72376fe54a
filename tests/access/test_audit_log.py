"""Who did what: written at the edges, shown to those who answer for it, forgotten after 400 days."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import builders
from webapp.accounts.models import User
from webapp.audit.log import forget_old
from webapp.audit.models import Entry, Verb
from webapp.audit.queries import PAGE
from webapp.projects.models import Membership, Project, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ada=Role.ADMIN, vera=Role.VIEWER)


@pytest.fixture
def ada(project: Project) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    return client


def test_a_change_of_role_says_who_whom_and_what(ada: Client, project: Project) -> None:
    vera = Membership.objects.get(user__username="vera")
    ada.post(f"/projects/demo/members/{vera.pk}/role", {"role": "editor"})
    entry = Entry.objects.get()
    assert (entry.actor_name, entry.verb, entry.target, entry.detail, entry.project) == (
        "ada", Verb.MEMBER_ROLE, "vera", "viewer → editor", project,
    )  # fmt: skip
    page = ada.get("/projects/demo/audit/").content.decode()
    assert "changed a role" in page
    assert "viewer → editor" in page


def test_secrets_are_never_written(ada: Client) -> None:
    secret = ada.post("/accounts/tokens/", {"name": "ci", "scope": "read", "lifetime": "30"}).context["secret"]
    form = {"kind": "webhook", "address": "https://hooks.example.org/T0KEN", "secret": "s3cret", "name": "team"}
    ada.post("/projects/demo/alerts/channels/", form)
    written = " ".join(f"{entry.target} {entry.detail}" for entry in Entry.objects.all())
    assert written.split() == ["ci", "read", "team"]
    assert secret not in written


def test_the_log_is_filtered_by_person_act_and_day(ada: Client, project: Project) -> None:
    now = timezone.now()
    for name, verb, days in (("ada", Verb.STOPPED, 0), ("ben", Verb.STOPPED, 0), ("ada", Verb.DELETED, 9)):
        Entry.objects.create(actor_name=name, verb=verb, project=project, at=now - timedelta(days=days))

    def shown(**asked: str) -> int:
        return len(ada.get("/projects/demo/audit/", asked).context["page"].rows)

    yesterday = (now - timedelta(days=1)).date().isoformat()
    assert shown() == 3
    assert shown(person="ADA") == 2
    assert shown(person="ada", verb="run.stopped") == 1
    assert shown(since=yesterday) == 2
    assert shown(until=yesterday) == 1


def test_a_long_log_comes_in_pages(ada: Client, project: Project) -> None:
    Entry.objects.bulk_create(Entry(verb=Verb.STOPPED, project=project) for _i in range(PAGE + 1))
    first = ada.get("/projects/demo/audit/").context["page"]
    rest = ada.get("/projects/demo/audit/", {"before": first.older}).context["page"]
    assert (len(first.rows), len(rest.rows), rest.older) == (PAGE, 1, None)


def test_what_is_older_than_400_days_is_forgotten() -> None:
    now = timezone.now()
    Entry.objects.create(verb=Verb.STOPPED, at=now - timedelta(days=401))
    kept = Entry.objects.create(verb=Verb.STOPPED, at=now - timedelta(days=399))
    assert forget_old(now) == 1
    assert list(Entry.objects.all()) == [kept]


def test_behind_a_proxy_the_address_is_what_the_proxy_saw(settings: object) -> None:
    builders.user("ana")
    settings.BEHIND_PROXY = True  # type: ignore[attr-defined]
    Client().post(
        "/accounts/login/", {"login": "ana", "password": "no"}, headers={"X-Forwarded-For": "9.9.9.9, 1.2.3.4"}
    )
    assert Entry.objects.get().address == "1.2.3.4"
