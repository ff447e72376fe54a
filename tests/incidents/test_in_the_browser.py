"""An incident as a person has it: its charts drawn, kept up while it is open, no error in the console."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import until_true
from tests.incidents.found import incident
from tests.pages.people import team
from tests.runpage import stored
from webapp.accounts.models import User
from webapp.incidents import lifecycle
from webapp.incidents.models import Incident

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


def test_an_incident_is_found_in_the_list_read_and_answered(log_in: Callable[[str], Page]) -> None:
    attempt = stored.run_with_steps(team().project, slow={2: 200})
    row = incident(attempt, since=10)
    page = log_in("editor")
    page.set_default_timeout(30_000)
    page.goto("/incidents/")
    page.get_by_role("link", name="needs 200 ms more for the backward pass").click()
    for chart, says in {"own:backward": "200 ms more", "parts": "backward", "heat:local": "Rank 2"}.items():
        card = page.locator(f'[data-chart="{chart}"]')
        expect(card).to_have_attribute("data-drawn", "true")
        expect(card.locator("[data-finding]")).to_contain_text(says)
    page.locator("textarea").fill("The fan is broken.")
    page.get_by_role("button", name="Comment").click()
    expect(page.locator("#incident-timeline")).to_contain_text("The fan is broken.")
    lifecycle.acknowledge(Incident.objects.get(), User.objects.get(username="admin"), row.opened_at)
    expect(page.locator("#incident-story")).to_contain_text("acknowledged by admin")
    for width in (390, 1920):
        page.set_viewport_size({"width": width, "height": 844})
        until_true(page, "width => document.documentElement.scrollWidth <= width", width)
