"""Going anywhere by a few letters, and keys that stay out of the way of typing."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests import builders
from tests.pages.people import Team, team
from webapp.runs.models import Run, RunEvent, Status

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


def _found(people: Team, who: str, letters: str) -> list[str]:
    answer = people.client(who).get("/palette/find", {"q": letters}).json()
    return [one["title"] for one in answer["found"]]


def test_runs_and_projects_are_found_by_name_and_id_where_one_may_see_them() -> None:
    people = team()
    run = builders.running_attempt(in_project=people.project).run
    Run.objects.filter(pk=run.pk).update(name='warm "up" (bf16)')
    assert _found(people, "viewer", run.uid) == ['warm "up" (bf16)']
    assert _found(people, "viewer", "(bf16)") == ['warm "up" (bf16)']
    assert _found(people, "viewer", "demo")[0] == "demo"
    assert _found(people, "stranger", run.uid) == _found(people, "stranger", "demo") == []
    assert people.client("logged_out").get("/palette/find").status_code == 302


@pytest.fixture
def page(log_in: Callable[[str], Page]) -> Page:
    project = team().project
    builders.running_attempt(in_project=project)
    page = log_in("editor")
    page.goto("/")
    return page


@pytest.mark.browser
def test_the_palette_leads_to_pages_and_runs_by_keyboard_alone(page: Page) -> None:
    run = Run.objects.get()
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Name of a page")
    expect(box).to_be_focused()
    expect(page.get_by_role("option", name=run.name)).to_be_visible()
    page.keyboard.type("incid")
    chosen = page.locator("#palette [aria-selected=true]")
    expect(chosen).to_have_text("Incidentsg i")
    expect(box).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    page.keyboard.press("Enter")
    page.wait_for_url("**/incidents/")
    page.keyboard.press("Control+k")
    page.keyboard.type(run.uid)
    expect(page.locator("#palette [aria-selected=true]")).to_contain_text(run.name)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run.uid}/")


@pytest.mark.browser
def test_what_the_page_can_do_is_in_the_palette_and_a_stop_still_asks(page: Page) -> None:
    run = Run.objects.get()
    page.goto(f"/runs/{run.uid}/")
    page.keyboard.press("Control+k")
    page.keyboard.type("stop this")
    expect(page.locator("#palette [aria-selected=true]")).to_have_text("Stop this run")
    page.keyboard.press("Enter")
    question = page.get_by_role("dialog").filter(has_text="Its ranks get a signal")
    expect(question).to_be_visible()
    assert Run.objects.get().status == Status.RUNNING
    with page.expect_navigation():
        question.get_by_role("button", name="Stop").click()
    assert RunEvent.objects.filter(run=run, actor="editor").exists()


@pytest.mark.browser
def test_two_letters_lead_to_a_page_but_not_while_somebody_types(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Go to Nodes")
    page.keyboard.press("Escape")
    page.focus("[data-search-key]")
    page.keyboard.type("g n?[")
    assert page.input_value("[data-search-key]") == "g n?["
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("h1").click()
    page.keyboard.type("gn")
    page.wait_for_url("**/nodes/")
