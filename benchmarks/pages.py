"""How fast pages are when there is much: `python -m benchmarks.pages [--home DIR] [--scale 0.05] [--minutes 10]
[--database postgres]`.

Starts the product in a home that it fills with 50,000 runs, one run of 1,000,000 steps x 8 ranks, one of 20,000 steps x
1,024 ranks and one with 12,000 keys (each times `--scale`), and keeps the home if it is named. Then it measures in
Chromium: server time of the runs list, the first draw of each run's page and of their comparison, the answer to a zoom
and of the pickers of keys, the biggest reply, how long one chart takes to draw again, and a live replay of 1,024 ranks.
Last line: `{list_ms, first_draw_ms, zoom_ms, picker_ms, max_reply_kb, redraw_ms, heap_growth_mb, errors}`.
"""

import argparse
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from benchmarks import fill
from benchmarks.browser import chromium, log_in
from benchmarks.page_times import compare_page, list_page, run_page
from benchmarks.parts import product_on
from benchmarks.product import Product, free_port, start_up, wait_until_ready
from benchmarks.replay import live_replay
from tests.postgres import postgres

WORST = ("first_draw_ms", "zoom_ms", "picker_ms", "max_reply_kb", "redraw_ms")  # of all pages


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=None)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--tries", type=int, default=5, help="of each page; the median counts")
    parser.add_argument("--minutes", type=float, default=10.0, help="of the live replay")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paceline-") if asked.home is None else nullcontext(asked.home) as folder:
        home = Path(folder).resolve()
        home.mkdir(parents=True, exist_ok=True)
        kept = None if asked.home is None else home.with_name(f"{home.name}-cluster")
        with on_postgres(home, kept) if asked.database == "postgres" else on_sqlite(home) as made:
            report(made, asked)


@contextmanager
def on_sqlite(home: Path) -> Iterator[Product]:
    """`manage.py up` without nodes."""
    up = start_up(home, free_port(), nodes=0, slots=1)
    try:
        yield wait_until_ready(home, up)
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(30)


@contextmanager
def on_postgres(home: Path, kept: Path | None) -> Iterator[Product]:
    """On a cluster of its own, in the folder `kept` if it is to stay."""
    with postgres(kept) as url, product_on(url, home) as made:
        yield made


def report(made: Product, asked: argparse.Namespace) -> None:
    """Fill, measure, print."""
    runs = filled(made, asked.scale)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        log_in(page, made)
        rows = {"list": list_page(page, made, asked.tries)}
        rows |= {name: run_page(page, made, run, asked.tries) for name, run in runs.items()}
        rows["compare"] = compare_page(page, made, list(runs.values()), asked.tries)
        replay = live_replay(page, made, asked.minutes) if asked.minutes > 0 else {}
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, row in rows.items():
        print(f"{name:14} " + ", ".join(f"{key} {value}" for key, value in row.items()))
    found = {key: max(row[key] for row in rows.values() if key in row) for key in WORST}
    print(json.dumps({"list_ms": rows["list"]["server_ms"], **found, **replay}))


def filled(made: Product, scale: float) -> dict[str, str]:
    """Ids of the big runs; what is not there yet is made."""
    fill.open_database(made.home, made.database)
    note = made.home / "filled.json"
    found: dict[str, str] = json.loads(note.read_text()) if note.exists() else {}
    most: dict[str, Callable[[], str | None]] = {
        "runs": lambda: fill.many_runs(max(50, int(50_000 * scale))),
        "million_steps": lambda: fill.ended_run(max(256, int(1_000_000 * scale)), ranks=8),
        "1024_ranks": lambda: fill.ended_run(max(256, int(20_000 * scale)), ranks=1024),
        "12000_keys": lambda: fill.run_with_keys(max(60, int(12_000 * scale))),
    }
    for name in (name for name in most if name not in found):
        began = time.monotonic()
        found[name] = most[name]() or ""
        print(f"filled {name} in {time.monotonic() - began:.0f} s", flush=True)
        note.write_text(json.dumps(found))
    return {name: found[name] for name in most if name != "runs"}


if __name__ == "__main__":
    main()
