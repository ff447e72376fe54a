"""Nothing that axe-core finds: names, roles, headings, landmarks and contrast of every page, light and dark."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from tests import builders
from tests.access import world
from tests.browser_complaints import Complaints
from tests.runpage import stored
from webapp.projects.models import Project
from webapp.runs.models import Attempt, Outcome, Run, Status

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]

_RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "resultTypes": ["violations"]}

_PAGES = {
    "runs": (
        "/",
        "/?q=nothing-has-this-name",
        "/launch/",
        "/sweeps/",
        "/sweeps/new/",
        "/sweeps/{sweep}/",
        "/runs/{ended}/",
        "/compare/",
        "/compare/?runs={charts},{ended}",
    ),
    "what is told": (
        "/reports/",
        "/reports/new/",
        "/reports/{report}/",
        "/reports/{report}/edit",
        "/mentions/",
        "/runs/{ended}/exports/",
    ),
    "what is wrong": (
        "/incidents/",
        "/incidents/{incident}/",
        "/autopsies/{autopsy}/",
        "/dumps/",
        "/nodes/",
        "/nodes/checks/",
        "/nodes/checks/{check}/",
    ),
    "a project": (
        "/projects/",
        "/projects/demo/",
        "/projects/demo/alerts/",
        "/projects/demo/alerts/rules/{rule}/",
        "/projects/demo/tokens/",
        "/projects/demo/audit/",
        "/projects/demo/invitations/",
    ),
    "people": (
        "/accounts/tokens/",
        "/accounts/password/change/",
        "/accounts/2fa/",
        "/accounts/people/",
        "/invitations/",
        "/audit/",
    ),
}
_FOR_NOBODY = ("/accounts/login/", "/accounts/password/reset/")


class Eyes:
    """Looks at pages with axe-core, and keeps what it finds."""

    def __init__(self) -> None:
        self.axe, self.found = Axe(), list[str]()

    def see(self, page: Page, where: str) -> None:
        """In both themes."""
        self.look(page, where)
        page.click("[data-theme-toggle]")
        self.look(page, f"{where} in dark", _COLOURS)
        page.click("[data-theme-toggle]")

    def look(self, page: Page, where: str, options: dict[str, Any] = _RULES) -> None:
        charts = {"exclude": [".js-plotly-plot"]}  # pictures: their names stand on what they are drawn in
        for rule in self.axe.run(page, charts, options).response["violations"]:
            shown = [f"    {node['html'][:160]} {node['failureSummary']}" for node in rule["nodes"][:3]]
            self.found.append("\n".join([f"{where}: {rule['id']}: {rule['help']}", *shown]))


@pytest.fixture
def eyes() -> Iterator[Eyes]:
    seen = Eyes()
    yield seen
    assert not seen.found, "\n".join(seen.found)


@pytest.fixture
def things() -> dict[str, Any]:
    built = world.build()
    project = Project.objects.get(slug="demo")
    return built | {"charts": stored.run_with_steps(project, slow={3: 40}).run.uid, "ended": _failed(project).run.uid}


def _failed(project: Project) -> Attempt:
    attempt = builders.running_attempt(in_project=project)
    now = timezone.now()
    ended: dict[str, Any] = {"status": Status.ENDED, "outcome": Outcome.FAILED, "ended_at": now}
    ended |= {"reason": "rank_failed", "detail": {"rank": 1, "code": 1}}
    Attempt.objects.filter(pk=attempt.pk).update(**ended)
    Run.objects.filter(pk=attempt.run_id).update(**ended, created_at=now - timedelta(days=3))
    return attempt


@pytest.mark.parametrize("part", _PAGES)
def test_every_page(log_in: Callable[[str], Page], eyes: Eyes, things: dict[str, Any], part: str) -> None:
    page = log_in("superuser")
    for address in _PAGES[part]:
        page.goto(address.format(**things))
        eyes.see(page, address)


def test_the_pages_before_the_login(browser: Browser, server_url: str, eyes: Eyes, things: dict[str, Any]) -> None:
    page = browser.new_page(base_url=server_url)
    for address in (*_FOR_NOBODY, f"/invitations/{things['secret']}/", f"/s/{things['shared']}/"):
        page.goto(address)
        eyes.see(page, address)
    page.close()


def test_the_run_page_and_its_tabs(log_in: Callable[[str], Page], eyes: Eyes, things: dict[str, Any]) -> None:
    page = log_in("admin")
    page.goto(f"/runs/{things['charts']}/")
    expect(page.locator('[data-panel="step_time"]')).to_have_attribute("data-drawn-step", "39", timeout=30_000)
    eyes.see(page, "run")
    for tab in page.locator(".tabs [data-tab-link]").all()[1:]:
        page.keyboard.press("]")
        expect(tab).to_have_attribute("aria-current", "true")
        eyes.look(page, f"run, {tab.inner_text()}")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("heading", name="Share this run")).to_be_visible()
    eyes.look(page, "share")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/runs/{things['ended']}/")
    eyes.look(page, "run that failed, 390 px")


def test_what_opens_and_what_was_refused(
    log_in: Callable[[str], Page], eyes: Eyes, things: dict[str, Any], complaints: Complaints
) -> None:
    page = log_in("admin")
    page.goto("/nothing/")
    eyes.look(page, "what is not there")
    complaints.expected("404")
    page.goto("/launch/")
    page.fill("#id_command", "train.py 'open")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#form-summary")).to_be_focused()
    eyes.see(page, "launch, refused")
    complaints.expected("422")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    eyes.look(page, "runs, 390 px")
    page.locator(".nav__more > summary").click()
    eyes.look(page, "menu, 390 px")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="Incidents")).to_be_visible()
    eyes.look(page, "palette")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    eyes.look(page, "shortcuts")
