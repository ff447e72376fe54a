"""One real server and one real browser for all tests of a session; every test gets an empty database."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page

from benchmarks.browser import chromium
from tests.browser_complaints import Complaints
from tests.server import web_server
from tests.waiting import until
from webapp.accounts.models import User


@pytest.fixture(scope="session")
def server_url(django_db_setup: None, redis_server: str) -> Iterator[str]:
    with web_server() as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """For tests that are marked `browser`: they come last, see conftest.py."""
    with pytest.MonkeyPatch.context() as patch, chromium() as found:
        # Playwright keeps an event loop in this thread, which Django takes for async code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield found


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


def until_true(page: Page, script: str, arg: Any = None) -> None:
    """Playwright's own wait_for_function asks by eval from the second time on, which our pages do not allow."""
    until(lambda: page.evaluate(script, arg), timeout=30)
