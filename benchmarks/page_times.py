"""How long pages and their answers take in a browser, and how big they are."""

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from playwright.sync_api import Page

from benchmarks.live import first_draw
from benchmarks.product import Product

DRAWN = "[data-panel][data-drawn-step]"  # the first chart of a run's page
CURVE = "[data-card=curve] .js-plotly-plot .main-svg"  # of a comparison
SERVER = "(t => t.responseStart - t.requestStart)(performance.getEntriesByType('navigation')[0])"
PANELS = ("step_time", "phases", "comm", "heat:local", "heat:step")
PARTS = ("", "layer9", "norm11", "loss", "no such key")  # typed into a picker of keys
REPLIES = """() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
  .filter(one => !one.name.includes('/static/')).map(one => one.decodedBodySize)"""
ASK = """async ([url, query]) => {
  const began = performance.now();
  const reply = await fetch(`${url}?${new URLSearchParams(query)}`);
  const body = await reply.text();
  if (!reply.ok) throw new Error(`${reply.status} ${body.slice(0, 200)}`);
  return [performance.now() - began, body.length];
}"""
REDRAW = """async () => {
  const took = [];
  for (const plot of document.querySelectorAll('.js-plotly-plot')) {
    const began = performance.now();
    await window.Plotly.react(plot, plot.data, {...plot.layout, datarevision: Math.random()});
    took.push(performance.now() - began);
  }
  return Math.max(...took);
}"""


def list_page(page: Page, made: Product, tries: int) -> dict[str, int]:
    """The runs list: from the request to the first byte, and the picker of its columns."""
    times = []
    for _ in range(tries):
        page.goto(f"{made.url}/", wait_until="networkidle")
        times.append(page.evaluate(SERVER))
    replies = biggest_reply_kb(page)
    picked, size = answers(page, f"{made.url}/history/keys", ({"part": part} for part in PARTS))
    return {"server_ms": round(statistics.median(times)), "picker_ms": picked, "max_reply_kb": max(replies, size)}


def run_page(page: Page, made: Product, run: str, tries: int) -> dict[str, int]:
    """First draw, zoom and redraw of one run."""
    address = f"{made.url}/runs/{run}/"
    draws = [from_the_list(page, made, address, DRAWN) for _ in range(tries)]
    page.wait_for_load_state("networkidle")
    redraws = [page.evaluate(REDRAW) for _ in range(tries)]
    last = made.api("GET", f"runs/{run}")["steps"] or 1
    replies = biggest_reply_kb(page)
    windows = ({"lo": int(last * (part - 0.1)), "hi": int(last * (part + 0.1))} for part in (0.1, 0.3, 0.5, 0.7, 0.9))
    asked = ({**window, "ids": ",".join(PANELS), "width": 1200} for window in windows)
    zoomed, size = answers(page, f"{address}panels", asked)
    return {
        "first_draw_ms": round(statistics.median(draws)),
        "zoom_ms": zoomed,
        "max_reply_kb": max(replies, size),
        "redraw_ms": round(statistics.median(redraws)),
    }


def compare_page(page: Page, made: Product, runs: Iterable[str], tries: int) -> dict[str, int]:
    """The first curve of some runs side by side, and the picker of metrics."""
    address = f"{made.url}/compare/?runs={','.join(runs)}"
    draws = [from_the_list(page, made, address, CURVE) for _ in range(tries)]
    page.wait_for_load_state("networkidle")
    replies = biggest_reply_kb(page)
    asked = ({"runs": ",".join(runs), "part": part} for part in PARTS)
    picked, size = answers(page, f"{made.url}/compare/names", asked)
    return {
        "first_draw_ms": round(statistics.median(draws)),
        "picker_ms": picked,
        "max_reply_kb": max(replies, size),
    }


def answers(page: Page, url: str, queries: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Milliseconds of a usual answer, and kilobytes of the biggest before it is packed."""
    found = [page.evaluate(ASK, [url, dict(query)]) for query in queries]
    return round(statistics.median(took for took, _size in found)), round(max(size for _took, size in found) / 1000)


def from_the_list(page: Page, made: Product, address: str, drawn: str) -> float:
    """Milliseconds to the first draw; the page before has nothing left to do that would be counted."""
    page.goto(f"{made.url}/", wait_until="networkidle")
    return first_draw(page, address, drawn) * 1000


def biggest_reply_kb(page: Page) -> int:
    """Of all that the page has asked for so far, static files left out, before it was packed."""
    sizes: list[int] = page.evaluate(REPLIES)
    return round(max(sizes) / 1000)
