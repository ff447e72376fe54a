"""Log in and out, the password, API tokens."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import builders
from webapp.accounts.models import ApiToken, hash_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(builders.user("ana"))
    return client


def test_a_person_logs_in_to_the_runs_and_out_again() -> None:
    builders.user("ana")
    client = Client()
    wrong = client.post("/accounts/login/", {"login": "ana", "password": "wrong"})
    assert "do not go together" in wrong.content.decode()
    answer = client.post("/accounts/login/", {"login": "ana", "password": "correct horse", "next": "/nodes/"})
    assert answer.headers["Location"] == "/nodes/"
    assert client.post("/accounts/logout/").status_code == 302
    assert client.get("/").status_code == 302


def test_login_goes_to_no_other_site() -> None:
    builders.user("ana")
    form = {"login": "ana", "password": "correct horse", "next": "https://elsewhere.example/"}
    assert Client().post("/accounts/login/", form).headers["Location"] == "/"


def test_a_new_token_is_shown_once_and_kept_as_a_hash(page: Client) -> None:
    answer = page.post("/accounts/tokens/", {"name": "ci", "scope": "write", "lifetime": "30"})
    secret = answer.context["secret"]
    assert secret in answer.content.decode()
    token = ApiToken.objects.get()
    assert token.token_hash == hash_token(secret)
    assert token.expires_at is not None
    assert abs(token.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    again = page.get("/accounts/tokens/")
    assert secret not in again.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]


def test_a_token_without_an_end_and_one_that_has_ended_are_told_apart(page: Client) -> None:
    page.post("/accounts/tokens/", {"name": "forever", "scope": "read", "lifetime": "0"})
    assert ApiToken.objects.get().expires_at is None
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert "expired" in page.get("/accounts/tokens/").content.decode()


def test_a_token_needs_a_name(page: Client) -> None:
    answer = page.post("/accounts/tokens/", {"name": "", "scope": "read", "lifetime": "30"})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


def test_the_list_holds_only_my_tokens(page: Client) -> None:
    ApiToken.issue(builders.user("ben"), "of-ben")
    assert "of-ben" not in page.get("/accounts/tokens/").content.decode()


def test_the_password_changes_and_the_person_stays_logged_in(page: Client) -> None:
    new = "a much longer one"
    form = {"oldpassword": "correct horse", "password1": new, "password2": new}
    assert page.post("/accounts/password/change/", form).status_code == 302
    assert page.get("/").status_code == 200
    assert Client().login(username="ana", password=new)
