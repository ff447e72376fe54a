"""Ghosts, holes and the ledger as a person has them: drawn, said, and closed while somebody looks."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.api.asking import asker
from tests.pages.people import team
from tests.runpage import resumed
from webapp.live.publish import frame
from webapp.runs.models import Attempt
from webapp.telemetry import holes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]

GHOST = "attempt 1, repeated"
DATA = """id => document.querySelector(`[data-panel='${id}'] [data-plot]`).data.map(
  t => ({name: t.name ?? "", type: t.type ?? "scatter", x: [...t.x], y: [...t.y], says: t.customdata ?? []}))"""


@dataclass
class Shown:
    """An open page of a resumed run."""

    page: Page
    attempt: Attempt

    def traces(self, panel: str) -> list[dict[str, Any]]:
        card = self.page.locator(f'[data-panel="{panel}"]')
        card.scroll_into_view_if_needed()
        expect(card).to_have_attribute("data-drawn-step", "69")
        found: list[dict[str, Any]] = self.page.evaluate(DATA, panel)
        return found

    def bands(self, panel: str) -> list[dict[str, Any]]:
        return [trace for trace in self.traces(panel) if trace["type"] == "bar"]

    def label(self, panel: str) -> Any:
        return expect(self.page.locator(f'[data-panel="{panel}"] [data-plot]'))


@pytest.fixture
def shown(log_in: Callable[[str], Page]) -> Shown:
    attempt = resumed.resumed(team().project)
    page = log_in("viewer")
    page.set_default_timeout(30_000)
    page.goto(f"/runs/{attempt.run.uid}/?window=all")
    return Shown(page, attempt)


def test_what_all_attempts_repeated_is_a_ghost_and_what_is_missing_a_band_that_says_why(shown: Shown) -> None:
    shown.label("step_time").to_have_attribute("aria-label", re.compile("steps 50 to 55"))
    for panel in ("step_time", "phases", "value:loss"):
        traces = {trace["name"]: trace for trace in shown.traces(panel)}
        assert traces[GHOST]["x"][0] >= resumed.FIRST_STEP, panel
        [band] = shown.bands(panel)
        assert band["x"] == [52.5], panel
        assert "steps 50 to 55" in " ".join(band["says"]).replace("<br>", " "), panel
    median = next(trace for trace in shown.traces("step_time") if trace["name"] == "median")
    assert any(value is None for step, value in zip(median["x"], median["y"], strict=True) if 50 <= step <= 55)
    shown.page.locator("[data-attempts]").select_option("2")
    shown.page.wait_for_url("**attempt=2*")
    assert GHOST not in {trace["name"] for trace in shown.traces("step_time")}


def test_a_hole_closes_when_it_is_filled_and_comes_with_a_frame_while_somebody_looks(shown: Shown) -> None:
    shown.label("step_time").to_have_attribute("aria-label", re.compile("steps 50 to 55"))
    resumed.fill(shown.attempt)
    frame(shown.attempt.run.uid, "filled", attempt=2, **{"from": 50, "to": 55})
    shown.label("step_time").not_to_have_attribute("aria-label", re.compile("steps 50 to 55"))
    assert shown.bands("step_time") == []
    median = next(trace for trace in shown.traces("step_time") if trace["name"] == "median")
    assert None not in median["y"]
    shown.page.locator("[data-attempts]").select_option("2")
    shown.page.wait_for_url("**attempt=2*")
    shown.label("step_time").to_have_attribute("aria-label", re.compile("line"))
    hole = {"from": 60, "to": 64, "ranks": [1], "reason": "pending", "text": "Rank 1: they are on the way."}
    frame(shown.attempt.run.uid, "panels", attempt=2, panels={"holes": holes.as_panel([hole])})
    shown.label("step_time").to_have_attribute("aria-label", re.compile("they are on the way"))


def test_the_ledger_tab_has_the_numbers_of_the_api_and_follows_them(shown: Shown) -> None:
    shown.page.get_by_role("link", name="Ledger", exact=True).click()
    rows = shown.page.locator("[data-test=ledger-ranks] tr:has(td)")
    expect(rows).to_have_count(4)
    expect(shown.page.locator("[data-test=ledger-finding]")).to_have_text(
        "All 4 ranks lack steps: 136 of 160 are stored."
    )
    told = asker("viewer").get(f"/runs/{shown.attempt.run.uid}/ledger").json()["ranks"]
    for rank, row in enumerate(rows.all()):
        account = told[str(rank)]
        found = [int(text.replace(",", "")) for text in row.locator("td.num").all_inner_texts()]
        assert found == [account[name] for name in ("made", "sent", "stored", "dropped")]
        assert row.locator(".gap").count() == len(account["gaps"])
    resumed.fill(shown.attempt)
    expect(shown.page.locator("[data-test=ledger-finding]")).to_have_text(
        "Every step that 4 ranks made is stored: 160 of 160."
    )
