"""What it costs to store a point: simulated nodes through the real Redis and the real ingest into each database, and
the same numbers into other stores.

`python -m benchmarks.ingest [--database sqlite|postgres]` prints a table. Cost is CPU time of the process that stores:
it does not change with what else the machine does. Last line, of the slower database where both were measured:
`{points_per_s_per_core, bytes_per_point, peers: {name: {points_per_s_per_core, bytes_per_point}}}`.
"""

import argparse
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from typing import Any

from benchmarks.ingest.peers import all_peers
from benchmarks.product import NOT_INHERITED, REPO
from tests.postgres import postgres

SHOWN = ("points_per_s_per_core", "bytes_per_point")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--nodes", type=int, default=128)
    parser.add_argument("--ranks", type=int, default=8, help="of a node")
    parser.add_argument("--steps", type=int, default=16, help="of all ranks of a node in one message")
    parser.add_argument("--messages", type=int, default=96, help="of each node")
    parser.add_argument("--peer-steps", type=int, default=256, help="that the other stores get")
    asked = parser.parse_args()
    databases = ["sqlite", "postgres"] if asked.database == "both" else [asked.database]
    ours = {database: measured(database, asked) for database in databases}
    peers = all_peers(asked.nodes * asked.ranks, asked.peer_steps, asked.steps)
    print_table(ours, peers)
    slower = min(ours.values(), key=lambda one: one["points_per_s_per_core"])
    found = {name: {key: one[key] for key in SHOWN} for name, one in peers.items() if isinstance(one, dict)}
    print(json.dumps({**{key: slower[key] for key in SHOWN}, "peers": found}))


def measured(database: str, asked: argparse.Namespace) -> dict[str, Any]:
    """One measurement, in a process of its own, since a process has one database."""
    with postgres() if database == "postgres" else nullcontext("") as url:
        command = [sys.executable, "-m", "benchmarks.ingest.ours", "--database", url]
        for name in ("nodes", "ranks", "steps", "messages"):
            command += [f"--{name}", str(getattr(asked, name))]
        environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        done = subprocess.run(command, cwd=REPO, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def print_table(ours: dict[str, dict[str, Any]], peers: dict[str, dict[str, Any] | str]) -> None:
    """A line for each store, then what else was measured of ours."""
    load = os.getloadavg()[0]
    print(f"load {load:.1f}\n{'store':28} {'points/s/core':>14} {'CPU s/million':>14} {'bytes/point':>12}")
    rows: dict[str, dict[str, Any] | str] = {**{f"paceline on {name}": one for name, one in ours.items()}, **peers}
    for name, one in rows.items():
        if isinstance(one, str):
            print(f"{name:28} {one}")
            continue
        speed, cost = one["points_per_s_per_core"], one["cpu_s_per_million"]
        print(f"{name:28} {speed:14,} {cost:14.3f} {one['bytes_per_point']:12.2f}")
    for name, one in ours.items():
        rest = {key: value for key, value in one.items() if key not in (*SHOWN, "cpu_s_per_million")}
        print(f"paceline on {name}: " + ", ".join(f"{key} {value}" for key, value in rest.items()))


if __name__ == "__main__":
    main()
