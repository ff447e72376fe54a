"""The page as a person has it: charts drawn, moved by frames, log filtered, no error in the console."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser import until_true
from tests.browser_complaints import Complaints
from tests.pages.people import team
from tests.runpage import stored
from tests.telemetry import batches
from tests.waiting import until
from webapp.live.publish import frame, run_changed
from webapp.runs.models import Attempt, Outcome, Run, Status
from webapp.telemetry.charts import Charts
from webapp.telemetry.read import Reader

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]

CORE = ("step_time", "phases", "heat:backward", "comm", "busbw", "value:loss", "device:rank/cpu")


@dataclass
class Shown:
    """An open run page and its run."""

    page: Page
    attempt: Attempt

    def drawn_to(self, panel: str, step: int) -> None:
        locator = self.page.locator(f'[data-panel="{panel}"]')
        locator.scroll_into_view_if_needed()
        expect(locator).to_have_attribute("data-drawn-step", str(step))

    def traces(self, panel: str) -> list[str]:
        found: list[str] = self.page.evaluate(
            "id => document.querySelector(`[data-panel='${id}'] [data-plot]`).data.map(t => t.name ?? '')", panel
        )
        return found


@pytest.fixture
def shown(log_in: Callable[[str], Page]) -> Shown:
    attempt = stored.run_with_steps(team().project, slow={3: 40})
    for rank in range(4):
        stored.log(attempt, rank, b"NCCL INFO ready\n" + (b"ValueError: only me\n" if rank == 2 else b""))
    page = log_in("editor")
    page.set_default_timeout(30_000)
    page.goto(f"/runs/{attempt.run.uid}/")
    return Shown(page, attempt)


def test_every_chart_is_drawn_and_says_what_it_shows(shown: Shown) -> None:
    for panel in CORE:
        card = shown.page.locator(f'[data-panel="{panel}"]')
        card.scroll_into_view_if_needed()
        expect(card).to_have_attribute("data-drawn-step", "1004" if panel.startswith("device") else "39")
        expect(card.locator("[data-plot]").first).to_have_attribute("aria-label", re.compile(r".{8,}"))
    assert "rank 3" in shown.traces("step_time")
    expect(shown.page.locator('[data-panel="step_time"] [data-finding]')).to_contain_text("Rank 3 takes")
    expect(shown.page.locator('[data-panel="step_time"] [data-reduction]')).to_contain_text("40 of 40 points")
    assert shown.page.title().startswith("40 % · ")


def test_a_frame_moves_the_charts_and_brings_log_lines(shown: Shown) -> None:
    shown.drawn_to("step_time", 39)
    height = shown.page.evaluate("document.body.scrollHeight")
    batches.tail(shown.attempt, 2, steps=[batches.steps(range(4), range(40, 45))])
    stored.log(shown.attempt, 1, b"fresh from rank one\n")
    charts = Charts(Reader(shown.attempt), 40, 44, 600)
    frame(shown.attempt.run.uid, "panels", attempt=1, panels={i: charts.panel(i) for i in ("step_time", "phases")})
    frame(shown.attempt.run.uid, "log", attempt=1, ranks={"1": 99})
    shown.drawn_to("step_time", 44)
    shown.drawn_to("phases", 44)
    expect(shown.page.locator(".log")).to_contain_text("fresh from rank one")
    assert shown.page.evaluate("document.body.scrollHeight") == height


def test_the_log_pane_filters_folds_and_opens(shown: Shown) -> None:
    rows = shown.page.locator(".log > li")
    expect(rows).to_have_count(2)
    expect(rows.first.locator(".rk").first).to_have_text("0–3")
    rows.first.get_by_role("button", name="4 similar lines").click()
    expect(rows.first.locator("ol li")).to_have_count(4)
    shown.page.locator("[data-log-ranks]").get_by_role("button", name="2", exact=True).click()
    expect(rows).to_have_count(2)
    expect(rows.last).to_have_class("err")
    shown.page.keyboard.press("/")
    shown.page.keyboard.type("only me")
    expect(rows).to_have_count(1)
    expect(rows.locator("mark")).to_have_text("only me")
    shown.page.locator(".log").focus()
    shown.page.keyboard.press(".")
    expect(shown.page.locator("[data-log-follow]")).to_have_attribute("aria-pressed", "false")


def test_lines_that_were_left_out_are_a_rule_and_a_refused_search_says_why(shown: Shown) -> None:
    stored.log(shown.attempt, 3, b"after the flood\n", skipped=(12_345, 18_000_000))
    frame(shown.attempt.run.uid, "log", attempt=1, ranks={"3": 18_000_099})
    rule = shown.page.locator(".log > li.skipped")
    expect(rule).to_contain_text("12,345 lines were skipped here; the whole log is on")
    expect(rule).not_to_contain_text("[paceline")
    search = shown.page.get_by_role("searchbox", name="Search the log")
    search.fill("/([/")
    expect(shown.page.locator("[data-log-none]")).to_contain_text("This pattern cannot be read")
    frame(shown.attempt.run.uid, "log", attempt=1, ranks={"3": 18_000_120})
    expect(search).to_have_attribute("aria-invalid", "true")
    search.fill("flood")
    expect(search).to_have_attribute("aria-invalid", "false")
    expect(shown.page.locator(".log > li")).to_have_count(1)


def test_window_zoom_phase_and_tab_are_chosen(shown: Shown) -> None:
    shown.drawn_to("step_time", 39)
    shown.page.get_by_role("button", name="All", exact=True).first.click()
    expect(shown.page).to_have_url(re.compile("window=all"))
    box = shown.page.locator('[data-panel="step_time"] .nsewdrag').bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    shown.page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    shown.page.mouse.down()
    shown.page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=4)
    shown.page.mouse.up()
    expect(shown.page).to_have_url(re.compile(r"lo=\d+&hi=\d+"))
    expect(shown.page.locator('[data-panel="step_time"]')).not_to_have_attribute("data-drawn-step", "39")
    shown.page.get_by_role("button", name="Leave zoom").click()
    shown.drawn_to("step_time", 39)
    shown.page.get_by_role("button", name="forward").click()
    shown.drawn_to("heat:forward", 39)
    shown.page.get_by_role("link", name="Config").click()
    expect(shown.page.get_by_role("heading", name="Command of each node")).to_be_visible()
    expect(shown.page.locator('[data-panel="step_time"]')).to_be_hidden()


def test_the_end_is_drawn_and_the_stream_closes(shown: Shown) -> None:
    shown.drawn_to("step_time", 39)
    batches.tail(shown.attempt, 2, steps=[batches.steps(range(4), range(40, 42))])
    Run.objects.update(status=Status.ENDED, outcome=Outcome.SUCCEEDED)
    Attempt.objects.update(status=Status.ENDED, outcome=Outcome.SUCCEEDED, last_step=41)
    run_changed(shown.attempt.run)
    expect(shown.page.locator(".pill").first).to_have_text("Finished")
    shown.drawn_to("step_time", 41)


def test_a_run_that_is_deleted_while_it_streams_leads_to_not_found(shown: Shown, complaints: Complaints) -> None:
    shown.drawn_to("step_time", 39)
    Run.objects.update(deleted_at=shown.attempt.created_at)
    with shown.page.expect_navigation():
        run_changed(shown.attempt.run)
    expect(shown.page.locator("main")).to_contain_text(re.compile("not|no", re.IGNORECASE))
    complaints.expected("404")


_READ_LATE = {"ledger": "[data-test=ledger-finding]", "config": "[data-test=ranks]"}


@pytest.mark.parametrize("width", [390, 1920])
def test_the_page_does_not_scroll_sideways(shown: Shown, width: int) -> None:
    shown.page.set_viewport_size({"width": width, "height": 844})
    for tab in ("metrics", "logs", "events", "ledger", "config"):
        shown.page.locator(f'.tabs [data-tab-link="{tab}"]').click()
        if tab in _READ_LATE:
            expect(shown.page.locator(_READ_LATE[tab])).to_be_visible()
        until_true(shown.page, "width => document.documentElement.scrollWidth <= width", width)


OVERLAPPING_READS = """async () => {
  const {panelFeed} = await import("/static/js/run/panel_feed.js");
  const answers = [];
  window.fetch = () => new Promise(resolve => answers.push(x => resolve(Response.json({panels: {step_time:
    {id: "step_time", axis: "step", x, columns: {median: x}, of: x.length, points: x.length}}}))));
  const turns = async () => { for (let i = 0; i < 20; i++) await Promise.resolve(); await new Promise(setTimeout); };
  const view = {query: () => ({}), span: () => null};
  const feed = panelFeed({urls: {panels: "/panels"}, attempt: 1}, view, () => {});
  const came = x => feed.apply({step_time: {id: "step_time", x: [x], columns: {median: [x]}, of: 1, points: 1}}, []);
  feed.want(["phases"]); await turns(); // all others wait for the first read
  answers.shift()([0]); await turns();
  feed.want(["step_time"]); await turns();
  feed.want(["step_time"]); await turns();
  answers[0]([0, 1]); await turns();
  came(2); came(3);
  answers[1]([0, 1]); await turns();
  came(4);
  return feed.get("step_time").x;
}"""


def test_frames_that_come_between_two_slow_reads_leave_no_hole(shown: Shown) -> None:
    assert shown.page.evaluate(OVERLAPPING_READS) == [0, 1, 2, 3, 4]


def test_charts_below_the_fold_are_on_paper(shown: Shown) -> None:
    page = shown.page
    page.set_viewport_size({"width": 1440, "height": 500})
    page.emulate_media(color_scheme="dark")
    page.reload()
    expect(page.locator('[data-panel="step_time"]')).to_have_attribute("data-drawn-step", "39")
    page.evaluate("window.print = () => { document.body.dataset.printed = 'yes' }")
    page.keyboard.press("Control+p")
    expect(page.locator("body")).to_have_attribute("data-printed", "yes")
    for panel in CORE:
        expect(page.locator(f'[data-panel="{panel}"]')).to_have_attribute("data-drawn-step", re.compile(r"\d+"))
    assert page.evaluate("scrollY") == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("html").get_attribute("data-theme") is None


def test_a_live_run_that_the_browsers_own_menu_prints_has_all_its_charts(shown: Shown, tmp_path: Path) -> None:
    page = shown.page
    page.set_viewport_size({"width": 1440, "height": 500})
    unread = {quote(quote(panel, safe=""), safe="") for panel in CORE}

    def read_all(response: Response) -> bool:
        unread.difference_update(part for part in set(unread) if part in response.url)
        return not unread

    with page.expect_response(read_all):  # nobody scrolls
        page.reload()
    assert "Running" in page.locator(".runbar").inner_text()
    page.evaluate(KEEPS_WHAT_IS_PRINTED)

    def all_is_printed() -> bool:  # once the page has taken up the last answer
        page.pdf(path=tmp_path / "run.pdf", format="A4")
        printed = page.evaluate("window.printed")
        return bool(printed) and all(drawn for _panel, drawn in printed)

    until(all_is_printed, 30)


KEEPS_WHAT_IS_PRINTED = """addEventListener("afterprint", () => {
  const cards = [...document.querySelectorAll("[data-panel]")].filter(card => card.checkVisibility());
  window.printed = cards.map(card => [card.dataset.panel, Boolean(card.querySelector(".main-svg"))]);
})"""
