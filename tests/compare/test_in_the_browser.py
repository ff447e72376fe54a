"""From the list to the comparison and through its tools."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.compare import made
from webapp.history.record import Came, note_metrics
from webapp.projects.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]

_LINES = "[data-metric=loss] .scatterlayer .trace"


def test_two_runs_are_chosen_in_the_list_and_compared(project: Project, log_in: Callable[[str], Page]) -> None:
    for name, rate in (("first", "0.1"), ("second", "0.2")):
        made.run(project, name, "--lr", rate, noise=0.05)
    page = log_in("ana")
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto("/")
    page.check("[aria-label='Select first']")
    page.check("[aria-label='Select second']")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(_LINES)).to_have_count(2)

    page.get_by_role("button", name="Time since start").click()
    expect(page.locator("[data-metric=loss] [data-unit]")).to_have_text("by time since the first step")
    page.locator("[data-smooth]").fill("0.9")
    expect(page.locator(_LINES)).to_have_count(4)  # each raw line stays
    page.get_by_role("button", name="Log scale").click()
    page.get_by_label("second").first.uncheck()
    expect(page.locator(_LINES)).to_have_count(2)
    for asked in ("axis=relative", "smooth=0.9", "log=1", "hide=r-"):
        assert asked in page.url

    page.evaluate("""() => Plotly.relayout(document.querySelector("[data-metric=loss] [data-plot]"),
      {"xaxis.range[0]": 0.8, "xaxis.range[1]": 1.6})""")  # as dragging over a part does
    expect(page.get_by_role("button", name="Show all of the axis")).to_be_visible()
    assert "lo=0.8&hi=1.6" in page.url
    page.reload()  # the address holds all of it
    expect(page.locator(_LINES)).to_have_count(2)
    page.evaluate("window.print = () => { document.body.dataset.printed = 'yes' }")
    page.keyboard.press("Control+p")  # what is further down is there before it is printed
    expect(page.locator("body")).to_have_attribute("data-printed", "yes")
    expect(page.get_by_text("settings differ").or_(page.get_by_text("setting differs"))).to_have_count(1)
    expect(page.locator("[data-plot=scatter] .point")).to_have_count(1)
    assert wrong == []


def test_the_menu_of_metrics_says_how_many_there_are_until_few_enough_fit(
    project: Project, log_in: Callable[[str], Page]
) -> None:
    run = made.run(project, "many keys")
    note_metrics(run, 1, {f"layer{k}/norm": Came(9, 1.0, 1.0, 2.0) for k in range(120)}, {})
    page = log_in("ana")
    page.goto(f"/compare/?runs={run.uid}&metrics=loss")
    page.get_by_text("Add a metric").click()
    note = page.locator("[data-metrics] [data-note]")
    expect(note).to_have_text(re.compile(r"^50 of 1\d\d shown\. Type to narrow it down\.$"))
    page.get_by_role("searchbox", name="Find a metric").fill("layer119")
    expect(page.locator("[data-metrics] .choice")).to_have_count(1)
    expect(page.locator("[data-metrics] .choice")).to_have_text("layer119/norm1 of 1 runs")
    expect(note).to_be_hidden()
    page.get_by_role("searchbox", name="Find a metric").fill("no such key")
    expect(note).to_have_text("No run has a metric with this in its name.")
