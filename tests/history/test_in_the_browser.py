"""The runs list under somebody's hands: suggestions, columns, many runs at once, exact times."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.history.made import run
from webapp.history.models import Tag
from webapp.projects.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


def test_a_search_is_completed_by_keyboard(project: Project, log_in: Callable[[str], Page]) -> None:
    run(project, "went well", outcome="succeeded")
    run(project, "went wrong", outcome="failed")
    page = log_in("ana")
    page.goto("/")
    box, options = page.get_by_role("combobox", name="Search runs"), page.locator("#completions [role=option]")
    box.press_sequentially("statu")
    expect(options.first).to_contain_text("status:")
    box.press("ArrowDown")
    box.press("Tab")
    expect(box).to_have_value("status:")
    box.press_sequentially("fai")
    expect(options).to_have_count(1)
    box.press("ArrowDown")
    box.press("Enter")
    expect(box).to_have_value("status:failed ")
    box.press("Enter")
    expect(page.locator("[data-live-row]")).to_have_count(1)
    expect(page.get_by_role("link", name="went wrong")).to_be_visible()
    assert "status%3Afailed" in page.url


def test_a_metric_and_a_setting_become_columns(project: Project, log_in: Callable[[str], Page]) -> None:
    run(project, "first", "--rate", "0.5", metrics={"accuracy": 0.75})
    page = log_in("ana")
    page.goto("/")
    menu = page.locator("[data-columns]")
    menu.locator("summary").click()
    for name in ("accuracy", "rate"):
        menu.get_by_label("Find a metric or setting").fill(name)
        menu.locator("[data-found]").get_by_role("checkbox", name=name, exact=True).or_(
            menu.locator("[data-found]").get_by_role("checkbox", name=f"config.{name}", exact=True)
        ).check()
    menu.get_by_role("checkbox", name="Owner").uncheck()
    menu.get_by_role("button", name="Show these").click()
    row = page.locator("[data-live-row]")
    expect(row).to_contain_text("0.750")
    expect(row).to_contain_text("0.5")
    expect(page.get_by_role("columnheader", name="accuracy")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Owner")).to_have_count(0)


def test_an_editor_tags_many_runs_and_a_viewer_compares_them(project: Project, log_in: Callable[[str], Page]) -> None:
    for name in ("first", "second", "third"):
        run(project, name)
    page = log_in("ana")
    page.goto("/")
    bulk = page.locator("#bulk")
    expect(bulk).to_be_hidden()
    page.get_by_role("checkbox", name="Select every run of this page").check()
    page.get_by_role("checkbox", name="Select third").uncheck()
    expect(bulk).to_contain_text("2 selected")
    bulk.get_by_label("Tag or group").fill("baseline")
    bulk.get_by_role("button", name="Tag", exact=True).click()
    expect(page.get_by_text("2 runs: tagged.")).to_be_visible()
    assert set(Tag.objects.values_list("run__name", "name")) == {("first", "baseline"), ("second", "baseline")}

    page = log_in("vic")
    page.goto("/")
    page.get_by_role("checkbox", name="Select first").check()
    page.get_by_role("checkbox", name="Select second").check()
    expect(page.get_by_role("button", name="Tag", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Compare")).to_be_visible()
    expect(page.get_by_text("2 runs", exact=True)).to_be_visible()


def test_the_exact_time_stands_under_an_age_that_has_the_focus(project: Project, log_in: Callable[[str], Page]) -> None:
    run(project, "first")
    page = log_in("ana")
    page.goto("/")
    age, tip = page.locator("[data-live-row] time").last, page.locator(".tip")
    expect(age).to_have_attribute("tabindex", "0")
    page.locator("[data-live-row] .name").focus()
    page.keyboard.press("Tab")
    expect(age).to_be_focused()
    expect(tip).to_have_text(age.get_attribute("title") or "a title")
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    age.click()
    expect(tip).to_be_visible()
