"""A security key as the second factor, with one that Chromium plays."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from playwright.sync_api import Browser, Page, expect

from tests import builders
from tests.browser_complaints import Complaints
from webapp.accounts.models import User
from webapp.audit.models import Entry, Verb

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]

_KEY = {"protocol": "ctap2", "transport": "usb", "automaticPresenceSimulation": True}


@pytest.fixture
def page(browser: Browser, server_url: str, complaints: Complaints) -> Iterator[Page]:
    """The login page at the address at which browsers offer keys without https, with a key plugged in."""
    builders.user("ana")
    User.objects.update(password=PBKDF2PasswordHasher().encode("correct horse", "salt", 1))
    context = browser.new_context(base_url=server_url.replace("127.0.0.1", "localhost"))
    context.set_default_timeout(30_000)
    complaints.listen(context)
    found = context.new_page()
    chromium = context.new_cdp_session(found)
    chromium.send("WebAuthn.enable")
    chromium.send("WebAuthn.addVirtualAuthenticator", {"options": _KEY})
    yield found
    context.close()


def test_a_key_is_added_and_from_then_on_asked_for_after_the_password(page: Page) -> None:
    _log_in(page)
    page.goto("/accounts/2fa/webauthn/add/")
    _type_password(page)
    page.get_by_role("textbox", name="Name").fill("On my key ring")
    page.get_by_role("button", name="Add this key").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_role("button", name="Add this key").click()
    expect(page.get_by_role("alert")).to_have_text("This key has been added already.")
    page.context.clear_cookies()
    _log_in(page)
    page.get_by_role("button", name="Use a security key").click()
    page.wait_for_url(lambda url: "/accounts/" not in url)  # each address ends in a slash
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_role("row", name="On my key ring")).to_contain_text("ago")
    assert Entry.objects.get(verb=Verb.FACTOR_ADDED).detail == "webauthn"


def _log_in(page: Page) -> None:
    page.goto("/accounts/login/?next=/")
    page.get_by_label("User name").fill("ana")
    _type_password(page)
    page.wait_for_url(lambda url: "/login/" not in url)


def _type_password(page: Page) -> None:
    page.get_by_label("Password").fill("correct horse")
    page.keyboard.press("Enter")
