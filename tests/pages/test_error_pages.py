"""Errors look like the product, say what happened and what to do, and tell nothing else."""

from typing import Any

import pytest
from django.conf import settings
from django.template.loader import get_template
from django.test import Client

from tests import builders
from tests.broken import without_table
from webapp.accounts.models import User
from webapp.exports.models import Export
from webapp.nodes.models import Node
from webapp.runs.models import Run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]
FORM, FIELDS = "/projects/", {"name": "Other", "slug": "other"}


def browser(user: User | None = None, **options: Any) -> Client:
    client = Client(raise_request_exception=False, **options)
    if user is not None:
        client.force_login(user)
    return client


@pytest.fixture
def run() -> Run:
    return builders.running_attempt().run


def test_what_is_not_there_says_so_in_the_look() -> None:
    answer = browser(builders.user()).get("/no/such/page")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()
    assert 'class="topbar"' in answer.content.decode()


def test_a_form_without_the_cookie_says_so_and_can_be_sent_again() -> None:
    client = browser(builders.user(), enforce_csrf_checks=True)
    refused = client.post(FORM, FIELDS)
    text = refused.content.decode()
    assert refused.status_code == 403
    assert "Nothing was saved yet" in text
    assert "cookie: it was cleared, or is blocked. Send it once more" in text
    assert "If you were logged in" not in text
    token = client.cookies[settings.CSRF_COOKIE_NAME].value
    assert client.post(FORM, {**FIELDS, "csrfmiddlewaretoken": token}).status_code == 302


def test_logged_out_it_also_says_to_log_in_and_each_language_its_own() -> None:
    client = browser(enforce_csrf_checks=True)
    assert "If you were logged in, log in again in another tab" in client.post(FORM, FIELDS).content.decode()
    text = browser(enforce_csrf_checks=True).post(FORM, FIELDS, headers={"Accept-Language": "pt-BR"}).content.decode()
    assert "Nada foi salvo ainda" in text
    assert "entre de novo em outra aba" in text


def test_a_form_from_before_another_login_says_to_reload() -> None:
    client = browser(builders.user(), enforce_csrf_checks=True)
    client.get(FORM)
    text = client.post(FORM, {**FIELDS, "csrfmiddlewaretoken": "a" * 64}).content.decode()
    assert "logged in again in another tab" in text
    assert "reload the page" in text


def test_what_another_site_has_sent_is_stopped_and_no_help_to_send_it() -> None:
    client = browser(builders.user(), enforce_csrf_checks=True)
    client.get(FORM)
    token = client.cookies[settings.CSRF_COOKIE_NAME].value
    fields, origin = {**FIELDS, "csrfmiddlewaretoken": token}, "https://evil.example"
    answer = client.post(FORM, fields, headers={"Origin": origin})
    text = answer.content.decode()
    assert (answer.status_code, "This request was stopped" in text) == (403, True)
    assert "once more" not in text
    assert "evil.example" not in text


def test_an_error_of_ours_is_a_page_with_the_way_on_and_without_a_word_of_the_error(run: Run) -> None:
    with without_table(Export):
        answer = browser(run.owner).get(f"/runs/{run.uid}/exports/")
    text = answer.content.decode()
    assert (answer.status_code, answer["Content-Type"]) == (500, "text/html; charset=utf-8")
    assert "Something broke on our side" in text
    assert run.owner.username in text  # the topbar
    for word in ("exports_export", "Traceback", "no such table", "webapp"):
        assert word not in text


@pytest.mark.parametrize("who", ["owner", "nobody"])
def test_an_error_that_breaks_every_page_has_a_page_that_needs_nothing(run: Run, who: str) -> None:
    client = browser(run.owner if who == "owner" else None)
    with without_table(User):
        answer = client.get("/") if who == "owner" else client.post("/accounts/login/", {"login": "a", "password": "b"})
    assert answer.status_code == 500
    assert "Something broke on our side" in answer.content.decode()
    assert 'class="topbar"' in answer.content.decode()


@pytest.mark.parametrize("address", ["/api/v1/me", "/agent/v1/uploads/" + "0" * 64])
def test_scripts_and_agents_get_json_wherever_it_broke(run: Run, address: str) -> None:
    client = browser(run.owner)
    with without_table(User), without_table(Node):
        answer = client.get(address, headers={"Authorization": "Bearer x"} if "agent" in address else {})
    assert (answer.status_code, answer.json()["code"], answer.json()["fields"]) == (500, "internal", {})
    assert "on our side" in answer.json()["message"]


@pytest.mark.parametrize("name", ["400.html", "403.html", "403_csrf.html", "500.html", "503.html"])
def test_an_error_page_needs_no_request(name: str) -> None:
    assert "Go to runs" in get_template(name).render()
