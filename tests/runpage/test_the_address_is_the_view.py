"""What somebody set up on the run page stands in its address: opened elsewhere, it shows the same; back goes back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.pages.people import team
from tests.runpage import stored
from tests.telemetry import batches

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


def _is_the_view(page: Page) -> None:
    expect(page.locator("#run-page")).to_have_attribute("data-tab", "logs")
    expect(page.locator("[data-log] input[type=search]")).to_have_value("needle")
    expect(page.locator('[data-log-ranks] button[value="2"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".log li")).to_have_count(1)
    expect(page.locator('[data-heat-phases] [data-phase="forward"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator('[data-window="all"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-over-ranks]")).to_have_value("mean")


def test_a_copied_address_shows_the_same_and_back_leads_to_the_tab_before(log_in: Callable[[str], Page]) -> None:
    attempt = stored.run_with_steps(team().project)
    for rank in range(4):
        stored.log(attempt, rank, b"a needle of rank %d\nsome hay\n" % rank)
    for rank in range(4):
        logged = [batches.values(key, rank, {n: rank + n / 40 for n in range(40)}) for key in ("accuracy", "f1")]
        batches.tail(attempt, 2 + rank, values=logged)
    page = log_in("viewer")
    wrong: list[str] = []
    page.context.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    page.context.on("weberror", lambda e: wrong.append(str(e.error)))
    page.goto(f"/runs/{attempt.run.uid}/", wait_until="domcontentloaded")
    page.locator('[data-heat-phases] [data-phase="forward"]').click()
    page.locator('[data-window="all"]').click()
    page.locator("[data-over-ranks]").select_option("mean")
    page.locator('[data-key="accuracy"]').scroll_into_view_if_needed()
    expect(page.locator('[data-key="accuracy"] [data-reduction]')).to_contain_text("deviation of 4 ranks")
    page.locator('[data-tab-link="logs"]').first.click()
    page.locator("[data-log] input[type=search]").fill("needle")
    page.locator('[data-log-ranks] button[value="2"]').click()
    _is_the_view(page)
    expect(page).to_have_url(re.compile(r"phase=forward.*window=all.*over=mean.*q=needle.*rank=2.*#logs"))
    copied = page.url
    page.go_back(wait_until="commit")
    expect(page.locator("#run-page")).to_have_attribute("data-tab", "metrics")

    again = page.context.new_page()
    again.goto(copied, wait_until="domcontentloaded")
    _is_the_view(again)
    assert wrong == []
