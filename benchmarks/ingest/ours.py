"""Paceline's own ingest: a Redis, a database and `workers.ingest` of its own, fed by simulated nodes.

`python -m benchmarks.ingest.ours --database URL …` does one measurement; its last line is a `Measured` in JSON.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
import redis

from benchmarks.ingest.data import FLOATS, KINDS, slabs
from benchmarks.ingest.nodes import Nodes
from benchmarks.product import REPO, free_port, wait_for

MOST_WAITING = 8  # messages of one node; then the nodes wait for ingest, as a full spool would
HEAT_RANKS, HEAT_STEPS = 64, 2_000


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="", help="URL; empty: a new SQLite")
    parser.add_argument("--nodes", type=int, default=128)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--steps", type=int, default=16, help="in one message")
    parser.add_argument("--messages", type=int, default=96, help="of each node")
    parser.add_argument("--profile", default="", help="file for a py-spy profile of the ingest process")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paceline-") as folder, own_redis(Path(folder)) as client:
        open_database(Path(folder), asked.database)
        print(json.dumps(measured(client, asked)))


@contextmanager
def own_redis(home: Path) -> Iterator[redis.Redis]:
    """A Redis that only this measurement uses."""
    port = free_port()
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home)],
        stdout=subprocess.DEVNULL,
    )
    os.environ["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
    client = redis.Redis(port=port)
    try:
        wait_for(lambda: _answers(client), 20, "Redis")
        yield client
    finally:
        client.close()
        server.send_signal(signal.SIGTERM)
        server.wait(10)


def open_database(home: Path, url: str) -> None:
    """A new and empty one, for this process and its children."""
    os.environ |= {"PACELINE_HOME": str(home), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    os.environ |= {"SECRET_KEY": "of a measurement", "DATABASE_URL": url or f"sqlite:///{home / 'paceline.sqlite3'}"}
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False, verbosity=0)


def measured(client: redis.Redis, asked: argparse.Namespace) -> dict[str, Any]:
    """Feed it, end the run, wait until all is in segments; then count."""
    from benchmarks.ingest import rows

    attempt, uids = rows.running(asked.nodes, asked.ranks)
    nodes = Nodes(client, attempt.pk, uids, asked.ranks)
    made = [nodes.made(slab) for slab in islice(slabs(asked.nodes * asked.ranks, asked.steps), asked.messages)]
    sent = asked.messages * asked.steps * asked.nodes * asked.ranks * KINDS
    process = psutil.Popen([sys.executable, "-m", "workers.ingest"], cwd=REPO)
    try:
        wait_for(lambda: rows.is_served(attempt), 60, "ingest")
        before, database_before = _cpu_s(process), rows.database_cpu_s()
        profiler = _profiler(asked.profile, process.pid)
        for messages in made:  # made beforehand, so that ingest need not wait for the one who simulates
            nodes.send(messages)
            while nodes.unread() > MOST_WAITING:
                time.sleep(0.01)
        wait_for(lambda: nodes.unread() == 0, 600, "ingest to have read all")
        rows.end(attempt)
        wait_for(lambda: rows.is_compacted(attempt), 600, "everything to be in segments")
        cpu, database_cpu = _cpu_s(process) - before, rows.database_cpu_s() - database_before
        if profiler is not None:
            profiler.send_signal(signal.SIGINT)
            profiler.wait(60)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    sizes = rows.sizes(attempt, FLOATS)
    stored = sizes["points_stored"] + sizes["points_derived"]
    return {
        "points_sent": sent,
        "messages": nodes.seq * asked.nodes,
        "cpu_s": round(cpu, 2),
        "cpu_s_per_million": round(cpu / sent * 1e6, 4),
        "cpu_s_per_million_with_derived": round(cpu / stored * 1e6, 4),
        "points_per_s_per_core": round(sent / cpu),
        "database_cpu_s": round(database_cpu, 2),
        **sizes,
        "heatmap_ms": rows.heatmap_ms(HEAT_RANKS, HEAT_STEPS),
    }


def _profiler(path: str, pid: int) -> "subprocess.Popen[bytes] | None":
    if not path:
        return None
    spy = Path(sys.executable).parent / "py-spy"
    options = ["--format", "raw", "--rate", "200", "--nonblocking", "--output", path]
    return subprocess.Popen([str(spy), "record", "--pid", str(pid), *options], stdout=subprocess.DEVNULL)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


if __name__ == "__main__":
    main()
