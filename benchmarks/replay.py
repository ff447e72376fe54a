"""A page that watches many ranks for a while: how much its heap grows, and what it complains about."""

import os
import time

from playwright.sync_api import Page

from benchmarks import fill
from benchmarks.product import Product

STEP_S = 0.5  # between two steps of all ranks
LOOKS = 8  # at the heap
DRAWN_STEP = "Number(document.querySelector('[data-panel=step_time]').dataset.drawnStep ?? -1)"


def live_replay(page: Page, made: Product, minutes: float, nodes: int = 128, ranks: int = 8) -> dict[str, float]:
    """`heap_growth_mb`: how much greater the page's heap is at the end than after the first quarter; `steps` that were
    sent, `behind`: of them not drawn at the end, `errors` of the page's scripts and console."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright's loop runs in this thread
    fill.open_database(made.home, made.database)
    import redis
    from django.conf import settings

    from benchmarks.heartbeats import LivingNodes
    from benchmarks.ingest import rows
    from benchmarks.ingest.data import slabs
    from benchmarks.ingest.nodes import Nodes

    attempt, uids = rows.running(nodes, ranks)
    client = redis.Redis.from_url(settings.REDIS_URL)
    sender, living = Nodes(client, attempt.pk, uids, ranks), LivingNodes(client, attempt, uids, ranks)
    living.say()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type in ("error", "warning") else None)
    page.goto(f"{made.url}/runs/{attempt.run.uid}/")
    began = time.monotonic()
    heaps: list[float] = []
    steps = slabs(nodes * ranks, 1)
    while len(heaps) < LOOKS:
        living.say()
        sender.send(sender.made(next(steps)))
        page.wait_for_timeout(max(0.0, began + sender.sent * STEP_S - time.monotonic()) * 1000)
        if time.monotonic() - began >= minutes * 60 * (len(heaps) + 1) / LOOKS:
            heaps.append(heap_mb(page))
    behind = sender.sent - 1 - page.evaluate(DRAWN_STEP)
    print(f"replay: {sender.sent} steps, heap in MB {', '.join(f'{mb:.1f}' for mb in heaps)}", flush=True)
    for error in errors:
        print(f"replay: {error}")
    rows.end(attempt)
    living.leave()
    return {
        "heap_growth_mb": round(heaps[-1] - heaps[1], 1),
        "steps": sender.sent,
        "behind": behind,
        "errors": len(errors),
    }


def heap_mb(page: Page) -> float:
    """Of the page, after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    session.detach()
    return float(used)
