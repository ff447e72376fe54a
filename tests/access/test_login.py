"""Login, a new password, two-factor, accounts that are switched off."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core.cache import cache
from django.test import Client

from tests import builders
from webapp.accounts.models import User
from webapp.audit.models import Entry, Verb

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_old_attempts() -> None:
    cache.clear()  # allauth counts attempts there


@pytest.fixture
def ana() -> User:
    return builders.user("ana", email="ana@example.org")


def log_in(client: Client, login: str = "ana", password: str = "correct horse") -> int:
    return client.post("/accounts/login/", {"login": login, "password": password}).status_code


def is_in(client: Client) -> bool:
    return client.get("/").status_code == 200


@pytest.mark.parametrize("login", ["ana", "ana@example.org"])
def test_a_person_logs_in_by_name_or_address_and_it_is_written_down(ana: User, login: str) -> None:
    client = Client()
    log_in(client, login)
    assert is_in(client)
    entry = Entry.objects.get(verb=Verb.LOGGED_IN)
    assert (entry.actor, entry.address) == (ana, "127.0.0.1")


def test_failed_logins_are_written_down_and_after_some_refused(ana: User) -> None:
    for _attempt in range(5):
        log_in(Client(), password="wrong")
    assert Entry.objects.filter(verb=Verb.LOGIN_FAILED, actor_name="ana").count() == 5
    client = Client()
    for _attempt in range(2):
        log_in(client)
    assert not is_in(client)
    assert Entry.objects.filter(verb=Verb.LOGIN_REFUSED, actor_name="ana").count() == 1


def test_a_session_from_before_goes_on(ana: User) -> None:
    client = Client()
    client.force_login(ana, backend="django.contrib.auth.backends.ModelBackend")
    assert is_in(client)


def test_without_mail_the_page_sends_to_an_administrator_who_makes_a_link(ana: User) -> None:
    assert "Ask an administrator" in Client().get("/accounts/password/reset/").content.decode()
    root = Client()
    root.force_login(builders.user("root", is_superuser=True))
    link = root.post(f"/accounts/people/{ana.pk}/reset").context["link"].removeprefix("http://127.0.0.1:8000")
    client = Client()
    form_at = client.get(link).headers["Location"]
    new = "another long phrase"
    assert client.post(form_at, {"password1": new, "password2": new}).status_code == 302
    log_in(client, password=new)
    assert is_in(client)
    assert Client().get(link).context["token_fail"]


def test_who_is_switched_off_is_out_at_once(ana: User) -> None:
    client = Client()
    client.force_login(ana)
    root = Client()
    root.force_login(builders.user("root", is_superuser=True))
    root.post(f"/accounts/people/{ana.pk}/switch")
    assert not is_in(client)
    assert not is_in_after_login()


def is_in_after_login() -> bool:
    client = Client()
    log_in(client)
    return is_in(client)


def test_two_factor_asks_for_a_code_and_keeps_its_key_encrypted(ana: User) -> None:
    secret = generate_totp_secret()
    TOTP.activate(ana, secret)
    assert secret not in str(Authenticator.objects.get().data)
    client = Client()
    assert client.post("/accounts/login/", {"login": "ana", "password": "correct horse"}).headers["Location"] == (
        "/accounts/2fa/authenticate/"
    )
    assert not is_in(client)
    client.post("/accounts/2fa/authenticate/", {"code": "no"})
    assert Entry.objects.get(verb=Verb.LOGIN_FAILED).detail == "second factor"
    code = format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time())))
    client.post("/accounts/2fa/authenticate/", {"code": code})
    assert is_in(client)


def test_too_many_wrong_codes_are_written_down_once_and_the_right_one_is_refused(ana: User) -> None:
    secret = generate_totp_secret()
    TOTP.activate(ana, secret)
    client = Client()
    log_in(client)
    right = format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time())))
    for code in (*["no"] * 5, right, right):
        answer = client.post("/accounts/2fa/authenticate/", {"code": code})
    assert "Wait five minutes" in answer.content.decode()
    assert not is_in(client)
    told = Entry.objects.filter(detail="second factor").order_by("pk").values_list("actor_name", "verb")
    assert list(told) == [("ana", Verb.LOGIN_FAILED)] * 5 + [("ana", Verb.LOGIN_REFUSED)]


def test_who_tries_too_often_is_told_to_wait(ana: User) -> None:
    client = Client()
    client.force_login(ana)
    answers = [client.post("/accounts/reauthenticate/", {"password": "no"}) for _try in range(11)]
    assert answers[-1].status_code == 429
    assert "Wait a few minutes" in answers[-1].content.decode()


def test_recovery_codes_are_shown_and_counted(ana: User) -> None:
    TOTP.activate(ana, generate_totp_secret())
    client = Client()
    client.force_login(ana)
    client.post("/accounts/reauthenticate/", {"password": "correct horse"})
    assert "Make recovery codes" in client.get("/accounts/2fa/").content.decode()
    client.post("/accounts/2fa/recovery-codes/generate/")
    page = client.get("/accounts/2fa/recovery-codes/")
    assert len(set(page.context["unused_codes"])) == 10
    assert all(f"<li>{code}</li>" in page.content.decode() for code in page.context["unused_codes"])
    assert "10 codes are left" in client.get("/accounts/2fa/").content.decode()


def test_second_factors_are_in_the_audit_log(ana: User, django_capture_on_commit_callbacks: Any) -> None:
    client = Client()
    log_in(client)
    client.post("/accounts/reauthenticate/", {"password": "correct horse"})
    secret = client.get("/accounts/2fa/totp/activate/").context["form"].secret
    code = format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time())))
    for address, form in (
        ("totp/activate/", {"code": code}),
        ("recovery-codes/generate/", {}),
        ("totp/deactivate/", {}),
    ):
        with django_capture_on_commit_callbacks(execute=True):
            assert client.post(f"/accounts/2fa/{address}", form).status_code == 302
    written = Entry.objects.exclude(verb=Verb.LOGGED_IN).order_by("pk").values_list("actor_name", "verb", "detail")
    assert list(written) == [
        ("ana", Verb.FACTOR_ADDED, "totp"),
        ("ana", Verb.RECOVERY_CODES, ""),
        ("ana", Verb.RECOVERY_CODES, ""),
        ("ana", Verb.FACTOR_REMOVED, "totp"),
    ]
