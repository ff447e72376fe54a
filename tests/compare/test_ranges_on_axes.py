"""Choosing among runs by ranges on the axes of their settings and results."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import until_true
from tests.compare import made
from webapp.projects.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def runs(project: Project) -> str:
    """Six with rates 0, 0.1 … 0.5, as an address names them."""
    made_runs = [
        made.run(project, f"run {k}", "--lr", str(k / 10), "--opt", ("adam", "sgd")[k % 2], steps=12, noise=k / 20)
        for k in range(6)
    ]
    return "/compare/?runs=" + ",".join(run.uid for run in made_runs)


def _card(page: Page, address: str) -> Locator:
    page.goto(address)
    page.locator("#config").scroll_into_view_if_needed()
    card = page.locator("[data-card=values]")
    expect(card.locator("[data-plot=parallel] .scatterlayer .trace")).to_have_count(6)
    expect(page.locator("#config .diff")).to_be_visible()  # above, so that nothing moves any more
    return card


def _on(axis: Locator, height: float) -> tuple[float, float]:
    """The point of the window at a height of an axis, a share from its top."""
    axis.scroll_into_view_if_needed()
    box = axis.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + height * box["height"]


def _dragged(page: Page, axis: Locator, begin: float, end: float) -> None:
    """From one height of an axis to another, each as a share from its top."""
    page.mouse.move(*_on(axis, begin))
    page.mouse.down()
    page.mouse.move(*_on(axis, end), steps=3)
    page.mouse.up()


def _touched(page: Page, axis: Locator, begin: float, end: float) -> None:
    """The same with a finger."""
    touch = page.context.new_cdp_session(page)
    for kind, height in (
        ("Start", begin),
        *(("Move", begin + (end - begin) * k / 3) for k in (1, 2, 3)),
        ("End", None),
    ):
        points = [] if height is None else [dict(zip("xy", _on(axis, height), strict=True))]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})


def _written(page: Page, axis: Locator, begin: float, end: float) -> None:
    """The same with a pen."""
    pen = page.context.new_cdp_session(page)
    for kind, height in (
        ("Moved", begin),
        ("Pressed", begin),
        ("Moved", (begin + end) / 2),
        ("Moved", end),
        ("Released", end),
    ):
        x, y = _on(axis, height)
        pressed = {"button": "left", "buttons": 1, "clickCount": 1} if kind != "Moved" or height != begin else {}
        pen.send("Input.dispatchMouseEvent", {"type": f"mouse{kind}", "x": x, "y": y, "pointerType": "pen", **pressed})


def _range(page: Page) -> list[float]:
    """What the address says of the rate."""
    said = parse_qs(urlsplit(page.url).query)["within"][0]
    return [float(one) for one in said.split(":")[-2:]]


@pytest.mark.parametrize("dragged", [_dragged, _touched, _written], ids=["mouse", "finger", "pen"])
def test_a_range_is_moved_and_its_edges_are_dragged(
    runs: str, log_in: Callable[[str], Page], dragged: Callable[[Page, Locator, float, float], None]
) -> None:
    page = log_in("ana")
    card = _card(page, runs)
    finding, axis = card.locator("[data-finding]"), card.locator(".brush").first

    dragged(page, axis, 0.9, 0.5)
    expect(finding).to_contain_text("2 of 6 runs are in the chosen ranges: lr 0.026 – 0.25")
    dragged(page, axis, 0.7, 0.55)  # held in its middle
    expect(finding).to_contain_text("lr 0.11 – 0.33")
    first, last = _range(page)
    assert last - first == pytest.approx(0.224, abs=0.003)
    dragged(page, axis, 0.35, 0.05)  # its upper edge
    expect(finding).to_contain_text("4 of 6 runs")
    assert _range(page) == [first, 0.5]
    dragged(page, axis, 0.75, 0.3)  # its lower edge
    expect(finding).to_contain_text("2 of 6 runs are in the chosen ranges: lr 0.36")
    dragged(page, axis, 0.18, 0.95)  # the whole of it goes no further than the axis
    expect(finding).to_contain_text("2 of 6 runs are in the chosen ranges: lr 0 – 0.13")
    page.reload()
    page.locator("#config").scroll_into_view_if_needed()
    expect(finding).to_contain_text("2 of 6 runs")


def test_a_range_is_moved_and_its_edges_are_set_by_keys(runs: str, log_in: Callable[[str], Page]) -> None:
    page = log_in("ana")
    card = _card(page, runs + "&within=config.lr:0.1:0.2")
    finding, whole = card.locator("[data-finding]"), card.get_by_label("lr, whole range")
    expect(finding).to_contain_text("2 of 6 runs")
    whole.focus()
    for _ in range(10):
        page.keyboard.press("ArrowUp")
    assert _range(page) == pytest.approx([0.2, 0.3], abs=0.005)
    expect(whole).to_have_attribute("aria-valuetext", re.compile("0.2.* – 0.3"))
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")  # the slider of its upper end
    assert _range(page)[1] == 0.5
    whole.focus()
    page.keyboard.press("Home")
    assert _range(page)[0] == 0
    page.keyboard.press("Escape")
    expect(finding).to_contain_text("One line per run")
    expect(whole).to_be_disabled()
    expect(card.get_by_label("lr, from")).to_be_focused()


def test_words_are_moved_one_by_one(runs: str, log_in: Callable[[str], Page]) -> None:
    page = log_in("ana")
    card = _card(page, runs + "&within=config.opt:adam:adam")
    finding, axis = card.locator("[data-finding]"), card.locator(".brush").nth(1)
    expect(finding).to_contain_text("opt adam")
    _dragged(page, axis, 0.94, 0.3)
    expect(finding).to_contain_text("opt sgd")
    _dragged(page, axis, 0.077, 0.96)  # beside the only one: an edge
    expect(finding).to_contain_text("One line per run")


def test_ranges_on_axes_combine_stand_in_the_address_and_are_cleared(runs: str, log_in: Callable[[str], Page]) -> None:
    page = log_in("ana")
    card = _card(page, runs)
    finding, axes = card.locator("[data-finding]"), card.locator(".brush")

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
    until_true(page, f"{faint} === 5")

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
