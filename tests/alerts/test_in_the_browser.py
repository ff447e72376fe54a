"""Alerts as a person has them: tried on the past in the form, live on the page, and as notifications of the browser."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests import builders
from tests.browser import until_true
from tests.pages.people import team
from tests.telemetry import batches
from webapp.alerts.models import Rule
from workers.notify import look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]

# The browser's own notifications cannot be seen from outside, so that they are written down.
RECORD = """window.shown = []; window.Notification = class extends EventTarget {
  static permission = localStorage.getItem("asked") ?? "default";
  static async requestPermission() {
    localStorage.setItem("asked", "granted");
    return (Notification.permission = "granted");
  }
  constructor(title, more) { super(); window.shown.push([title, more.body, more.tag]); }
};"""


def test_a_rule_is_tried_saved_and_its_alert_shown(log_in: Callable[[str], Page]) -> None:
    attempt = builders.running_attempt(2, 2, in_project=team().project)
    begin = (timezone.now() - timedelta(minutes=1)).timestamp()
    batches.tail(attempt, 1, steps=[batches.steps(range(4), range(100), slow={2: 300}, end=begin)])
    page = log_in("editor")
    page.add_init_script(RECORD)
    page.goto("/projects/demo/alerts/")
    expect(page.locator("#open-alerts")).to_contain_text("Nothing fires now.")
    page.get_by_role("link", name="On a metric").click()
    page.get_by_label("Name", exact=True).fill("Slow steps")
    page.get_by_label("Metric", exact=True).fill("phase/step")
    page.get_by_role("button", name="Try it on the past").click()
    expect(page.locator("#past")).to_contain_text("Give the limit to compare with.")
    page.get_by_label("Limit").fill("0.2")
    page.get_by_role("button", name="Try it on the past").click()
    expect(page.locator("#past")).to_contain_text("It would have fired once.")
    assert not Rule.objects.filter(name="Slow steps").exists()
    page.get_by_role("button", name="Save rule").click()
    page.get_by_role("button", name="Show notifications").click()
    expect(page.get_by_role("button", name="Stop notifications")).to_be_visible()
    until_true(page, "localStorage.getItem('paceline-notify-cursor')")
    look(timezone.now())
    page.reload()
    expect(page.locator("#open-alerts")).to_contain_text("phase/step of some rank is 0.380 s", timeout=30_000)
    until_true(page, "window.shown.length === 1")
    ((title, text, tag),) = page.evaluate("window.shown")
    assert (title, tag) == (f"warning: demo / {attempt.run.name}", "paceline-alert-1")
    assert "phase/step of some rank" in text
    for width in (390, 1920):
        page.set_viewport_size({"width": width, "height": 844})
        until_true(page, "width => document.documentElement.scrollWidth <= width", width)
