"""The main job with every part real: launch in the browser, watch four ranks live, filter the log, stop, compare."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.browser import log_in
from benchmarks.product import REPO, Product, product, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.timeout(420)]
PRINTED = re.compile(r"step=(\d+) loss=([\d.]+) lr=(\S+)")


@pytest.fixture(scope="module")
def made() -> Iterator[Product]:
    with product(nodes=2, slots=2) as running:
        yield running


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    """What the page's scripts complained about."""
    return []


@pytest.fixture(scope="module")
def page(made: Product, browser: Browser, complaints: list[str]) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1440, "height": 1000})
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    log_in(opened, made)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def run(made: Product, page: Page) -> str:
    """Launched as a person does; its id."""
    page.goto(f"{made.url}/launch/")
    page.select_option("#id_project", "demo")
    page.fill("#id_name", "tiny gpt")
    page.fill("#id_command", f"{REPO / 'examples' / 'tiny_gpt.py'} --steps 2000 --step-ms 100")
    page.fill("#id_nodes", "2")
    page.fill("#id_ranks_per_node", "2")
    page.fill("#id_grace", "10")
    expect(page.locator("#shown-command")).to_contain_text("torch.distributed.run --nnodes=2")
    page.click(".runbar button[type=submit]")
    page.wait_for_url(re.compile(r"/runs/r-\w+/"))
    return page.url.split("/runs/")[1].strip("/")


def drawn(page: Page, panel: str) -> int:
    return int(page.locator(f'[data-panel="{panel}"]').get_attribute("data-drawn-step") or -1)


def test_every_chart_is_drawn_while_the_run_goes_on(made, page, run):
    wait_for(lambda: (made.api("GET", f"runs/{run}")["steps"] or 0) > 30, 120, "thirty steps")
    expect(page.locator('[data-part="bar"] .pills')).to_contain_text("Running", timeout=30_000)
    for panel in ("step_time", "phases", "heat:backward", "comm", "value:loss"):
        page.locator(f'[data-panel="{panel}"]').scroll_into_view_if_needed()
        wait_for(lambda panel=panel: drawn(page, panel) > 10, 20, f"the chart {panel}")
    page.locator('[data-panel^="device:"]').scroll_into_view_if_needed()
    wait_for(lambda: drawn(page, "device:rank/cpu") > 10, 20, "the utilisation")


def test_the_charts_move_without_a_reload(page, run):
    page.locator('[data-panel="step_time"]').scroll_into_view_if_needed()
    before = drawn(page, "step_time")
    wait_for(lambda: drawn(page, "step_time") >= before + 10, 20, "ten more steps on the chart")


def test_the_log_pane_shows_one_rank_alone(page, run):
    page.locator("#log-pane").scroll_into_view_if_needed()
    page.click('[data-log-ranks] button[value="3"]')
    rows = page.locator("#log-pane .log > li")
    expect(rows.first).to_have_attribute("data-ranks", "3", timeout=30_000)
    assert set(rows.evaluate_all("rows => rows.map(row => row.dataset.ranks)")) == {"3"}
    page.fill("#log-pane input[type=search]", "/step=7 /")
    expect(rows).to_have_count(1, timeout=30_000)
    expect(rows.first).to_contain_text("step=7 loss=")


def test_stop_ends_it_with_the_name_of_who_asked(made, page, run):
    page.click('[data-test="stop"]')
    page.locator("dialog button", has_text="Stop").click()
    wait_for(lambda: made.api("GET", f"runs/{run}")["status"] == "ended", 40, "the end of the run")
    expect(page.locator('[data-part="bar"] .pills')).to_contain_text("Stopped", timeout=30_000)
    shown = made.api("GET", f"runs/{run}")
    assert (shown["outcome"], shown["cause"], shown["world_size"]) == ("stopped", "user", 4)
    assert made.username in shown["sentence"]


def test_the_api_has_every_number_that_the_script_printed(made, run):
    loss = made.api("GET", f"runs/{run}/metrics?name=loss")["ranks"]
    for rank in range(4):
        printed = {int(step): float(value) for step, value, _ in PRINTED.findall(log_of(made, run, rank))}
        assert len(printed) > 30
        stored = {step: round(value, 4) for step, value in loss[str(rank)]}
        assert stored == printed


def test_every_rank_has_a_record_of_every_step_and_its_parts_add_up(made, run):
    steps = made.api("GET", f"runs/{run}/metrics?name=phase/step")["ranks"]
    assert {len(points) for points in steps.values()} == {len(steps["0"])}
    assert [step for step, _ in steps["0"]] == list(range(len(steps["0"])))
    parts = ("data", "forward", "backward", "exposed_comm", "optimizer", "other")
    sums = dict.fromkeys((step for step, _ in steps["1"]), 0.0)
    for part in parts:
        for step, value in made.api("GET", f"runs/{run}/metrics?name=phase/{part}&rank=1")["points"]:
            sums[step] += value
    for step, value in steps["1"]:
        assert sums[step] == pytest.approx(value, rel=0.01)


def test_the_page_shows_the_numbers_of_the_api(made, page, run):
    page.reload()
    expect(page.locator('[data-panel="step_time"]')).to_have_attribute("data-drawn-step", re.compile(r"\d+"))
    last = made.api("GET", f"runs/{run}")["steps"]
    assert drawn(page, "step_time") in (last, last - 1)
    loss = made.api("GET", f"runs/{run}/metrics?name=loss&rank=0")["points"]
    reply = page.request.get(f"{made.url}/runs/{run}/panels?ids=value%3Aloss&lo=0&hi=1000000&width=4000")
    assert reply.ok, reply.text()
    panel = reply.json()["panels"]
    shown = panel["value:loss"]
    first_column = next(name for name in shown["columns"] if name != "smooth")
    assert list(zip(shown["x"], shown["columns"][first_column], strict=True)) == [
        (step, pytest.approx(value, rel=1e-5)) for step, value in loss
    ]


def test_the_page_had_nothing_to_complain_about(complaints, run):
    assert complaints == []


def log_of(made: Product, run: str, rank: int) -> str:
    headers = {"Authorization": f"Bearer {made.token}"}
    reply = httpx.get(f"{made.url}/api/v1/runs/{run}/logs?rank={rank}", headers=headers, timeout=30)
    reply.raise_for_status()
    return reply.text
