"""How fresh the page is, and how fast it draws.

`python -m benchmarks.live` starts the whole product, trains with 4 ranks on two nodes and opens the run page in
Chromium. For every step it measures the time from its end in the slowest rank (the rank's own record; same machine,
same clock) to the moment at which a step-time chart that holds it has been drawn. Then it stores a run of 20,000
steps x 4 ranks and measures the first draw of the runs list and of its page, from the start of the navigation.
Last line: `{p50_s, p95_s, ranks, steps, list_first_draw_s, run_first_draw_s}`.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
from typing import Any

from playwright.sync_api import Page

from benchmarks.browser import chromium, log_in
from benchmarks.product import REPO, Product, product, wait_for

RANKS = 4
OBSERVE = """() => {
  window.seen = [];
  const panel = document.querySelector('[data-panel="step_time"]');
  new MutationObserver(() => window.seen.push([Number(panel.dataset.drawnStep), Date.now() / 1000]))
    .observe(panel, {attributes: true, attributeFilter: ['data-drawn-step']});
}"""


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--step-ms", type=int, default=300, help="pace of the training loop")
    asked = parser.parse_args()
    with product(nodes=2, slots=2) as made, chromium() as browser:
        page = browser.new_page()
        log_in(page, made)
        delays = live_delays(made, page, asked.seconds, asked.step_ms)
        report = {"p50_s": quantile(delays, 0.5), "p95_s": quantile(delays, 0.95), "ranks": RANKS, "steps": len(delays)}
        report |= first_draws(made, page)
    for name, value in report.items():
        print(f"{name:20} {value}")
    print(json.dumps(report))


def live_delays(made: Product, page: Page, seconds: float, step_ms: int) -> list[float]:
    """Seconds from the end of each step to its drawing."""
    steps = int(seconds * 1000 / step_ms) * 4
    run = made.paceline(
        *("submit", "--project", "demo", "--name", "live", "--nodes", "2", "--ranks-per-node", "2", "--grace", "3"),
        *("--", str(REPO / "examples" / "tiny_gpt.py"), "--steps", str(steps), "--step-ms", str(step_ms)),
        *("--batch-size", "2"),  # so that two cores have room for what is measured
    )
    page.goto(f"{made.url}/runs/{run}/")
    wait_for(lambda: (made.api("GET", f"runs/{run}")["steps"] or 0) > 20, 90, "the first 20 steps")
    page.evaluate(OBSERVE)
    page.wait_for_timeout(seconds * 1000)
    seen = page.evaluate("window.seen")
    ends = step_ends(made.api("GET", f"runs/{run}/metrics?name=step/end"))
    made.paceline("stop", run)
    return delays_of(seen, ends)


def step_ends(metric: dict[str, Any]) -> dict[int, float]:
    """Step -> epoch seconds at which its slowest rank ended it."""
    ends: dict[int, float] = {}
    for points in metric["ranks"].values():
        for step, end in points:
            ends[step] = max(ends.get(step, 0.0), end)
    return ends


def delays_of(seen: list[list[float]], ends: dict[int, float]) -> list[float]:
    """For each step that a drawing newly showed, drawing minus end."""
    delays: list[float] = []
    for (before, _), (last, at) in itertools.pairwise(seen):
        delays += [at - ends[step] for step in range(int(before) + 1, int(last) + 1) if step in ends]
    return delays


def first_draws(made: Product, page: Page) -> dict[str, float]:
    """Seconds of the first draw with 20,000 steps x 4 ranks stored, the median of five."""
    fill = [
        sys.executable,
        "-m",
        "benchmarks.fill",
        "--home",
        str(made.home),
        "--steps",
        "20000",
        "--ranks",
        str(RANKS),
    ]
    done = subprocess.run(fill, cwd=REPO, capture_output=True, text=True, check=True)
    run = done.stdout.split()[-1]
    lists = [first_draw(page, f"{made.url}/", "[data-live-row]") for _ in range(5)]
    runs = [first_draw(page, f"{made.url}/runs/{run}/", '[data-panel="step_time"][data-drawn-step]') for _ in range(5)]
    return {"list_first_draw_s": statistics.median(lists), "run_first_draw_s": statistics.median(runs)}


def first_draw(page: Page, url: str, drawn: str) -> float:
    """Seconds from navigation start to the element `drawn` being there."""
    page.goto(url, wait_until="commit")
    page.wait_for_selector(drawn, state="attached")
    return float(page.evaluate("performance.now() / 1000"))


def quantile(values: list[float], share: float) -> float:
    """The `share` quantile, milliseconds kept."""
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


if __name__ == "__main__":
    main()
