"""Nothing lost, nothing left behind, no state that lies: the whole product with two nodes of two ranks, under faults.

`python -m benchmarks.faults --minutes 5 --seed 1` starts the product in a temporary folder, keeps runs going one after
the other, and throws faults at it: `kill -9` of every part and of their parent, pauses, an emptied Redis, Redis away,
a locked database, a full disk on a node, batches that come twice, late and in another order. Each rank keeps a book of
its own about what it did. In the end, when the faults are over and all is quiet, the books are compared with what is
stored, and the states that the API told with the processes that there were.

The last line is JSON: `{faults, steps_made, steps_stored, duplicates, wrong_state, orphans, …}`. The exit code is 0
only if every step made is stored and all else is 0. From 5 minutes on, or with `--pace`, step times with Paceline are
compared with those without it while the agent is healthy, killed, stopped, and its disk full: see pace.py.
"""

import argparse
import json
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.faults.account import Account, account
from benchmarks.faults.acts import throw
from benchmarks.faults.asking import ask
from benchmarks.faults.attacked import Attacked, attacked
from benchmarks.faults.books import read_books
from benchmarks.faults.leftovers import is_quiet, orphans
from benchmarks.faults.pace import measure, slowed
from benchmarks.faults.runs import Planned, Runs
from benchmarks.faults.schedule import blows
from benchmarks.faults.told import Told
from benchmarks.faults.verdict import lies
from benchmarks.faults.watch import Watch

BETWEEN_S = (0.5, 4.0)
AT_LEAST = 6  # faults, however slow the machine is
ENDS_WITHIN_S = 150.0  # of the last fault, for the last run
QUIET_WITHIN_S = 90.0
PACE_FROM_MINUTES = 5
SAME_WITHIN_S = 20.0  # that what is compared may still be on its way into segments


def main() -> int:
    """Run it; the exit code."""
    asked = arguments()
    told = Told()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # cleans up like Ctrl-C
    with attacked() as product:
        told("ready", f"{product.product.url}, seed {asked.seed}")
        try:
            report = storm(product, asked.seed, asked.minutes * 60, told)
            if asked.pace or asked.minutes >= PACE_FROM_MINUTES:
                report["slowed"] = len(slowed(measure(product, told)))
        finally:
            if asked.keep:
                keep_logs(product, asked.keep)
    print(json.dumps(report))
    right = report["steps_made"] == report["steps_stored"]
    wrong = [name for name in report if name not in ("faults", "steps_made", "steps_stored", "runs", "seed")]
    return 0 if right and not any(report[name] for name in wrong) else 1


def storm(product: Attacked, seed: int, seconds: float, told: Told) -> dict[str, int]:
    """Faults for so long, then what is left of the truth."""
    runs = Runs(product, seed, told)
    watch = Watch(product, lambda: list(runs.begun), told)
    runs.begin()
    watch.begin()
    faults = throw_all(product, seed, seconds, told)
    told("over", f"{faults} faults thrown; waiting for the last run")
    runs.end()
    settle(product, runs, watch, told)
    watch.end()
    for planned in runs.begun:
        for lie in lies(planned, _read(product, planned.uid), read_books(product.books, planned.uid)):
            watch.note(lie)
    left = orphans(product, runs.begun)
    for one in left:
        told("LEFT", one)
    kept = compare(product, told)
    return {
        "faults": faults,
        "steps_made": kept.steps_made,
        "steps_stored": kept.steps_stored,
        "duplicates": kept.duplicates,
        "wrong_state": len(watch.wrong),
        "orphans": len(left),
        "values_wrong": kept.values_wrong,
        "lines_wrong": kept.lines_wrong,
        "ledger_wrong": kept.ledger_wrong,
        "runs": len(runs.begun),
        "seed": seed,
    }


def throw_all(product: Attacked, seed: int, seconds: float, told: Told) -> int:
    """How many were thrown."""
    over = threading.Event()
    chance = random.Random(seed + 2)
    end = time.monotonic() + seconds
    thrown = 0
    with ThreadPoolExecutor(2) as pool:
        for together in blows(seed, seconds, small_disks=product.has_small_disks):
            time.sleep(chance.uniform(*BETWEEN_S))
            if time.monotonic() > end and thrown >= AT_LEAST:
                return thrown
            told("fault", " and ".join(map(str, together)))
            flying = [pool.submit(throw, blow, product, over, random.Random(chance.random())) for blow in together]
            try:
                for one in flying:
                    one.result()
            except BaseException:
                over.set()
                raise
            thrown += len(together)
    raise AssertionError("the schedule has no end")


def settle(product: Attacked, runs: Runs, watch: Watch, told: Told) -> None:
    """Until every run has ended and the nodes have nothing more to say; what takes too long is a lie."""
    for planned in runs.begun:
        if not within(ENDS_WITHIN_S, lambda planned=planned: has_ended(product, planned)):
            status = _read(product, planned.uid)["status"]
            watch.note(f"{planned.uid} is {status} {ENDS_WITHIN_S:.0f} s after the last fault")
    quiet = within(QUIET_WITHIN_S, lambda: is_quiet(product))
    told("quiet" if quiet else "NOT QUIET", "comparing" if quiet else "nodes still hold attempts; comparing")


def compare(product: Attacked, told: Told) -> Account:
    """Books against what is stored, again while the last of it may still move."""
    found = Account()

    def holds() -> bool:
        nonlocal found
        found = account(product.product, read_books(product.books))
        return found.holds

    within(SAME_WITHIN_S, holds)
    for line in found.notes:
        told("DIFFERS", line)
    return found


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether the condition came true in time."""
    end = time.monotonic() + seconds
    while not (true := condition()) and time.monotonic() < end:
        time.sleep(1.0)
    return true


def has_ended(product: Attacked, planned: Planned) -> bool:
    """For good: the first attempt of one that is tried again does not count."""
    run = _read(product, planned.uid)
    return run["status"] == "ended" and not (planned.ending == "retry" and run["attempt"] == 1)


def _read(product: Attacked, uid: str) -> dict[str, Any]:
    run: dict[str, Any] = ask(product.product, "GET", f"runs/{uid}").json()
    return run


def keep_logs(product: Attacked, folder: Path) -> None:
    """For who looks into what went wrong: the parts' logs and the nodes' folders."""
    shutil.copytree(product.home / "logs", folder / "logs")
    shutil.copy(product.home / "up.log", folder)
    shutil.copytree(product.home / "nodes", folder / "nodes", ignore=shutil.ignore_patterns("spool"))
    shutil.copytree(product.books, folder / "books")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5, help="how long faults are thrown (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="decides runs and faults (default: %(default)s)")
    parser.add_argument("--keep", type=Path, help="new folder for the parts' logs and the nodes' folders")
    parser.add_argument("--pace", action="store_true", help="measure step times too, as from 5 minutes on")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
