"""A run of 256 ranks: no chart has a line for each of them."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.pages.people import team
from tests.runpage import stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]

TRACES = "[...document.querySelectorAll('.js-plotly-plot')].map(plot => plot.data.length)"


def test_all_charts_together_have_fewer_than_forty_lines(log_in: Callable[[str], Page]) -> None:
    attempt = stored.run_with_steps(team().project, slow={3: 40}, nodes=32, ranks_per_node=8)
    page = log_in("editor")
    page.goto(f"/runs/{attempt.run.uid}/")
    for panel in ("step_time", "phases", "heat:backward", "comm", "busbw", "value:loss", "device:rank/cpu"):
        card = page.locator(f'[data-panel="{panel}"]')
        card.scroll_into_view_if_needed()
        expect(card).to_have_attribute("data-drawn-step", "1004" if panel.startswith("device") else "39")
    traces = page.evaluate(TRACES)
    assert len(traces) >= 7
    assert sum(traces) < 40, traces
    choice = page.locator("[data-log-ranks]")
    expect(choice.locator("option")).to_have_count(258)
    assert choice.locator("option").all_inner_texts()[:2] == ["All ranks", "Rank 0"]
    choice.select_option("255")
    expect(page).to_have_url(re.compile("rank=255"))
