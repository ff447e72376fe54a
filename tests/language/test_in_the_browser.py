"""Portuguese pages in the real browser: scripts know the language, nothing breaks or is wider than the page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import until_true
from tests.incidents.found import incident
from tests.pages.people import team
from tests.runpage import stored
from webapp.accounts.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def addresses() -> list[str]:
    """A list, a run, an incident, nodes and the form of a launch, for an editor who has chosen Portuguese."""
    attempt = stored.run_with_steps(team().project, slow={2: 200})
    User.objects.filter(username="editor").update(language="pt-br")
    return ["/", f"/runs/{attempt.run.uid}/", f"/incidents/{incident(attempt, since=10).pk}/", "/nodes/", "/launch/"]


def test_portuguese_pages_work_as_english_ones_do(addresses: list[str], log_in: Callable[[str], Page]) -> None:
    page = log_in("editor")
    for address in addresses:
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("lang", "pt-br")
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 900})
            until_true(page, "width => document.documentElement.scrollWidth <= width", width)


def test_charts_write_numbers_as_the_language_does(addresses: list[str], log_in: Callable[[str], Page]) -> None:
    page = log_in("editor")
    page.goto(addresses[1])
    card = page.locator('[data-panel="value:loss"]')
    card.scroll_into_view_if_needed()
    expect(card.locator(".ytick text").first).to_contain_text(",")
    expect(card.locator("[data-finding]")).to_contain_text("2,61")
