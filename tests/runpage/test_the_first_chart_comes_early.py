"""The page itself asks for the numbers of its first chart, so that they are there when its scripts are."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.pages.people import team
from tests.runpage import stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]

_ASKED_BY = """performance.getEntriesByType("resource").filter(one => one.name.endsWith("ids=step_time"))
  .map(one => one.initiatorType)"""


def test_the_scripts_use_what_the_page_has_asked_for_in_every_window(log_in: Callable[[str], Page]) -> None:
    attempt = stored.run_with_steps(team().project)
    page = log_in("viewer")
    for query in ("", "?window=all&attempt=1", "?lo=3&hi=9"):
        page.goto(f"/runs/{attempt.run.uid}/{query}", wait_until="domcontentloaded")
        chart = page.locator('[data-panel="step_time"]')
        expect(chart).to_have_attribute("data-drawn-step", re.compile(r"\d"), timeout=30_000)
        assert page.evaluate(_ASKED_BY) == ["link"]
