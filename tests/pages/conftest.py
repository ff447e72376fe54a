"""One real server and one real browser for all browser tests of a file; every test gets an empty database."""

import shutil
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser_complaints import Complaints
from tests.server import web_server
from webapp.accounts.models import User

_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="module")
def server_url(django_db_setup: None) -> Iterator[str]:
    with web_server() as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread, which Django takes for async code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_ARGS)
        yield found
        found.close()


@pytest.fixture
def log_in(server_url: str, browser: Browser, complaints: Complaints) -> Iterator[Callable[[str], Page]]:
    """Open a page as a person whom the builders have made. No page of the test may have an error."""
    context = browser.new_context(base_url=server_url, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(30_000)
    complaints.listen(context)

    def opened(username: str) -> Page:
        client = Client()
        client.force_login(User.objects.get(username=username))
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": server_url}])
        return context.new_page()

    yield opened
    context.close()
