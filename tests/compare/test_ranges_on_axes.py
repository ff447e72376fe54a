"""Choosing among runs by ranges on the axes of their settings and results."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.compare import made
from webapp.projects.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


def _dragged(page: Page, axis: Locator, begin: float, end: float) -> None:
    """From one height of an axis to another, each as a share from its top."""
    expect(page.locator("#config .diff")).to_be_visible()  # above, so that nothing moves any more
    axis.scroll_into_view_if_needed()
    box = axis.bounding_box()
    assert box is not None
    x, low, high = box["x"] + box["width"] / 2, *(box["y"] + share * box["height"] for share in (begin, end))
    page.mouse.move(x, low)
    page.mouse.down()
    page.mouse.move(x, high, steps=3)
    page.mouse.up()


def test_ranges_on_axes_combine_stand_in_the_address_and_are_cleared(
    project: Project, log_in: Callable[[str], Page]
) -> None:
    runs = [
        made.run(project, f"run {k}", "--lr", str(k / 10), "--opt", ("adam", "sgd")[k % 2], steps=12, noise=k / 20)
        for k in range(6)
    ]
    page = log_in("ana")
    page.goto("/compare/?runs=" + ",".join(run.uid for run in runs))
    card = page.locator("[data-card=values]")
    finding, axes = card.locator("[data-finding]"), card.locator(".brush")
    page.locator("#config").scroll_into_view_if_needed()
    expect(card.locator("[data-plot=parallel] .scatterlayer .trace")).to_have_count(6)

    _dragged(page, axes.nth(0), 0.99, 0.5)  # rates from 0 to a little over 0.2
    expect(finding).to_contain_text("3 of 6 runs are in the chosen ranges")
    _dragged(page, axes.nth(1), 0.3, 0.01)
    expect(finding).to_contain_text("1 of 6 runs are in the chosen ranges")
    assert "within=" in page.url
    assert "sgd:sgd" in page.url.replace("%3A", ":")
    page.reload()  # the address holds the choice
    page.locator("#config").scroll_into_view_if_needed()
    expect(finding).to_contain_text("1 of 6 runs")
    faint = "[...document.querySelector('[data-plot=parallel]').data].filter(one => one.opacity < 0.5).length"
    page.wait_for_function(f"{faint} === 5")

    _dragged(page, axes.nth(1), 0.5, 0.5)  # a click
    expect(finding).to_contain_text("3 of 6 runs")
    to = card.get_by_label("lr, to")
    to.focus()
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    expect(finding).to_contain_text("2 of 6 runs")
    page.keyboard.press("Escape")
    expect(finding).to_contain_text("One line per run")
    assert "within=" not in page.url

    page.goto(page.url + "&within=%25%25:0:1&hide=%25")  # cannot be decoded once more: breaks nothing
    page.locator("#config").scroll_into_view_if_needed()
    expect(finding).to_contain_text("One line per run")
