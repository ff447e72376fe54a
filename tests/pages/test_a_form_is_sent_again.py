"""What a person has typed outlives a cookie that was cleared, a login in another tab, and an error of the server."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.broken import without_table
from tests.browser_complaints import Complaints
from tests.pages.people import team
from webapp.accounts.models import User
from webapp.projects.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]
PASSWORD = "a-password-for-tests"


@pytest.fixture
def page(log_in: Callable[[str], Page]) -> Page:
    """Of an editor who has a password."""
    team()
    ed = User.objects.get(username="editor")
    ed.set_password(PASSWORD)
    ed.save()
    return log_in("editor")


def log_in_in_another_tab(context: BrowserContext) -> None:
    other = context.new_page()
    other.goto("/accounts/login/")
    fill_login(other)
    expect(other).to_have_title("Runs · Paceline")
    other.close()


def fill_login(page: Page) -> None:
    page.get_by_label("User name").fill("editor")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")


def type_project(page: Page, name: str) -> None:
    page.goto("/projects/")
    page.get_by_label("Name", exact=True).fill(name)


def send(page: Page) -> None:
    page.get_by_label("Name", exact=True).press("Enter")


def is_made(page: Page, name: str) -> None:
    expect(page).to_have_title(f"{name} · Paceline")
    assert Project.objects.filter(name=name).exists()


@pytest.mark.parametrize("cleared", [["csrftoken"], None])
def test_after_cookies_were_cleared(page: Page, complaints: Complaints, cleared: list[str] | None) -> None:
    type_project(page, "Typed by hand")
    for name in cleared or [cookie["name"] for cookie in page.context.cookies()]:
        page.context.clear_cookies(name=name)
    send(page)
    expect(page.get_by_role("heading", name="Nothing was saved yet")).to_be_visible()
    if not cleared:
        expect(page.get_by_text("log in again in another tab")).to_be_visible()
        log_in_in_another_tab(page.context)
    page.get_by_role("button", name="Go back").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Typed by hand")
    send(page)
    is_made(page, "Typed by hand")
    complaints.expected("403")


def test_a_form_that_was_open_over_a_login_in_another_tab_is_just_sent(page: Page) -> None:
    type_project(page, "Left open")
    page.context.clear_cookies()
    log_in_in_another_tab(page.context)
    send(page)
    is_made(page, "Left open")


def test_a_login_form_that_was_open_over_a_login_in_another_tab_leads_in(page: Page) -> None:
    page.context.clear_cookies()
    page.goto("/accounts/login/")
    log_in_in_another_tab(page.context)
    fill_login(page)
    expect(page).to_have_title("Runs · Paceline")


def test_after_an_error_of_ours(page: Page, complaints: Complaints) -> None:
    type_project(page, "Typed in vain")
    with without_table(Project):
        send(page)
        expect(page.get_by_role("heading", name="Something broke on our side")).to_be_visible()
    page.get_by_role("button", name="Go back").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Typed in vain")
    send(page)
    is_made(page, "Typed in vain")
    complaints.expected("500")


def test_what_is_sent_without_leaving_the_page_is_refused_on_it(page: Page, complaints: Complaints) -> None:
    User.objects.filter(username="editor").update(is_superuser=True)
    page.goto("/nodes/")
    page.context.clear_cookies(name="csrftoken")
    join = page.get_by_role("button", name="Join a node")
    join.click()
    expect(page.get_by_role("status").get_by_text("Nothing was saved yet. Your browser sent this")).to_be_visible()
    join.click()
    expect(page.get_by_text("The token admits one machine")).to_be_visible()
    expect(page.get_by_text("Nothing was saved yet")).to_be_hidden()
    complaints.expected("403")
