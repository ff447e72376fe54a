"""Errors look like the product and say what to do."""

import pytest
from django.template.loader import get_template
from django.test import Client

from tests import builders

pytestmark = pytest.mark.django_db


def test_what_is_not_there_says_so_in_the_look() -> None:
    client = Client()
    client.force_login(builders.user())
    answer = client.get("/no/such/page")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()
    assert 'class="topbar"' in answer.content.decode()


def test_a_form_without_its_proof_says_to_reload() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(builders.user())
    answer = client.post("/accounts/logout/")
    assert answer.status_code == 403
    assert "open too long" in answer.content.decode()


@pytest.mark.parametrize("name", ["400.html", "403.html", "500.html", "503.html"])
def test_an_error_page_needs_no_request(name: str) -> None:
    assert "Go to runs" in get_template(name).render()
