"""How fast pages are when there is much: `python -m benchmarks.pages [--home DIR] [--scale 0.05] [--minutes 10]`.

Starts the product in a home that it fills with 50,000 runs, one run of 1,000,000 steps x 8 ranks, one of 20,000 steps x
1,024 ranks and one with 12,000 keys (each times `--scale`), and keeps the home if it is named. Then it measures in
Chromium: server time of the runs list, the first draw of each run's page, the answer to a zoom, the biggest reply, how
long one chart takes to draw again, and the heap over a live replay of 1,024 ranks.
Last line: `{list_ms, run_first_draw_ms, zoom_ms, max_reply_kb, redraw_ms, heap_growth_mb}`.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from benchmarks import fill
from benchmarks.browser import chromium, log_in
from benchmarks.live import first_draw
from benchmarks.product import REPO, Product, free_port, start_up, wait_until_ready

TRIES = 5
DRAWN = "[data-panel][data-drawn-step]"  # the first chart of the page
SERVER = "(t => t.responseStart - t.requestStart)(performance.getEntriesByType('navigation')[0])"
PANELS = ("step_time", "phases", "comm", "heat:local", "heat:step")
REPLIES = """() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
  .filter(one => !one.name.includes('/static/')).map(one => [one.name, one.encodedBodySize])"""
ZOOM = """async ([url, query]) => {
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


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=None)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--minutes", type=float, default=10.0, help="of the live replay")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paceline-") if asked.home is None else nullcontext(asked.home) as folder:
        home = Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        up = start_up(home, free_port(), nodes=0, slots=1)
        try:
            report(wait_until_ready(home, up), asked)
        finally:
            up.send_signal(signal.SIGTERM)
            up.wait(30)


def report(made: Product, asked: argparse.Namespace) -> None:
    """Fill, measure, print."""
    runs = filled(made.home, asked.scale)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        log_in(page, made)
        rows = {"list": list_page(page, made)}
        rows |= {name: run_page(page, made, run) for name, run in runs.items()}
        growth = live_replay(page, made, asked.minutes)
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, row in rows.items():
        print(f"{name:14} " + ", ".join(f"{key} {value}" for key, value in row.items()))
    pages = [row for name, row in rows.items() if name != "list"]
    found = {
        "list_ms": rows["list"]["server_ms"],
        **{key: max(row[key] for row in pages) for key in ("run_first_draw_ms", "zoom_ms")},
        "max_reply_kb": max(row["max_reply_kb"] for row in rows.values()),
        "redraw_ms": max(row["redraw_ms"] for row in pages),
        "heap_growth_mb": growth,
    }
    print(json.dumps(found))


def filled(home: Path, scale: float) -> dict[str, str]:
    """Ids of the big runs, made unless they are there already."""
    kept = home / "filled.json"
    if not kept.exists():
        most = {
            "million_steps": ["--steps", str(max(256, int(1_000_000 * scale))), "--ranks", "8"],
            "1024_ranks": ["--steps", str(max(256, int(20_000 * scale))), "--ranks", "1024"],
            "12000_keys": ["--keys", str(max(60, int(12_000 * scale)))],
        }
        _fill(home, ["--runs", str(max(50, int(50_000 * scale)))])
        kept.write_text(json.dumps({name: _fill(home, options).split()[-1] for name, options in most.items()}))
    found: dict[str, str] = json.loads(kept.read_text())
    return found


def list_page(page: Page, made: Product) -> dict[str, Any]:
    """Server time: from the request to the first byte."""
    times = []
    for _ in range(TRIES):
        page.goto(f"{made.url}/")
        times.append(page.evaluate(SERVER))
    return {"server_ms": round(statistics.median(times)), "max_reply_kb": biggest_reply_kb(page)}


def run_page(page: Page, made: Product, run: str) -> dict[str, Any]:
    """First draw, zoom and redraw of one run."""
    address = f"{made.url}/runs/{run}/"
    draws = [from_the_list(page, made, address) for _ in range(TRIES)]
    page.wait_for_load_state("networkidle")
    redraws = [page.evaluate(REDRAW) for _ in range(TRIES)]
    last = made.api("GET", f"runs/{run}")["steps"] or 1
    zooms, sizes = [], [biggest_reply_kb(page)]
    for part in (0.1, 0.3, 0.5, 0.7, 0.9):
        query = {"ids": ",".join(PANELS), "lo": int(last * (part - 0.1)), "hi": int(last * (part + 0.1)), "width": 1200}
        took, size = page.evaluate(ZOOM, [f"{address}panels", query])
        zooms.append(took)
        sizes.append(size / 1000)
    return {
        "run_first_draw_ms": round(statistics.median(draws)),
        "zoom_ms": round(statistics.median(zooms)),
        "max_reply_kb": round(max(sizes)),
        "redraw_ms": round(statistics.median(redraws)),
    }


def from_the_list(page: Page, made: Product, address: str) -> float:
    """Milliseconds to the first draw; the page before has nothing left to do that would be counted."""
    page.goto(f"{made.url}/", wait_until="networkidle")
    return first_draw(page, address, DRAWN) * 1000


def biggest_reply_kb(page: Page) -> int:
    """Of all that the page has asked for so far, static files left out."""
    sizes: list[int] = [size for _name, size in page.evaluate(REPLIES)]
    return round(max(sizes) / 1000)


def live_replay(page: Page, made: Product, minutes: float, nodes: int = 128, ranks: int = 8) -> float:
    """Megabytes by which the page's heap is greater at the end than after the first quarter; two steps a second."""
    if minutes <= 0:
        return 0.0
    fill.open_database(made.home)
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright's loop runs in this thread
    import redis
    from django.conf import settings

    from benchmarks.ingest import rows
    from benchmarks.ingest.data import slabs
    from benchmarks.ingest.nodes import Nodes

    attempt, uids = rows.running(nodes, ranks)
    sender = Nodes(redis.Redis.from_url(settings.REDIS_URL), attempt.pk, uids, ranks)
    steps = slabs(nodes * ranks, 1)
    page.goto(f"{made.url}/runs/{attempt.run.uid}/")
    began = time.monotonic()
    heaps: list[float] = []
    while time.monotonic() - began < minutes * 60:
        sender.send(sender.made(next(steps)))
        page.wait_for_timeout(500)
        if time.monotonic() - began >= minutes * 60 * (len(heaps) + 1) / 8:
            heaps.append(heap_mb(page))
    rows.end(attempt)
    return round(heaps[-1] - heaps[1], 1)


def heap_mb(page: Page) -> float:
    """Of the page, after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    session.detach()
    return float(used)


def _fill(home: Path, options: list[str]) -> str:
    command = [sys.executable, "-m", "benchmarks.fill", "--home", str(home), *options]
    return subprocess.run(command, cwd=REPO, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main()
