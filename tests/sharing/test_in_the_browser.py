"""A guest sees the shared view move, without an account, until the link is taken back."""

from collections.abc import Iterator

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from tests.pages.people import team
from tests.runpage import stored
from tests.telemetry import batches
from webapp.live.publish import frame
from webapp.sharing import lifecycle
from webapp.sharing.models import ShareLink
from webapp.telemetry.charts import Charts
from webapp.telemetry.read import Reader

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def guest(browser: Browser, server_url: str) -> Iterator[Page]:
    context = browser.new_context(base_url=server_url, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


def test_a_guest_follows_the_run_until_the_link_is_taken_back(guest: Page) -> None:
    attempt = stored.run_with_steps(team().project)
    link, secret = lifecycle.make(attempt.run, attempt.run.owner, view="", days=1, with_logs=False)
    wrong: list[str] = []
    guest.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    guest.on("pageerror", lambda e: wrong.append(str(e)))
    guest.goto(f"/s/{secret}/", wait_until="domcontentloaded")
    chart = guest.locator('[data-panel="step_time"]')
    expect(chart).to_have_attribute("data-drawn-step", "39")
    expect(guest.locator("a[href^='/runs'], a[href^='/projects'], [data-log], form[method=post]")).to_have_count(0)
    batches.tail(attempt, 2, steps=[batches.steps(range(4), range(40, 45))])
    charts = Charts(Reader(attempt), 40, 44, 600)
    frame(attempt.run.uid, "panels", attempt=1, panels={"step_time": charts.panel("step_time")})
    expect(chart).to_have_attribute("data-drawn-step", "44")
    assert wrong == []

    ShareLink.objects.filter(pk=link.pk).update(revoked_at=timezone.now())
    frame(attempt.run.uid, "state")
    expect(guest.get_by_role("heading", name="This link shows nothing")).to_be_visible()
