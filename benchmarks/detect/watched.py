"""One run from its launch to its end, with what the lab does to it in between."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.detect.case import STEP_MS, Case
from benchmarks.detect.ended import FAILED, ended
from benchmarks.detect.seen import Seen, spotted
from benchmarks.product import REPO, Product
from tests.lab.lab import INTERFACE, Lab
from tests.lab.starve import Starved

NODES = 4  # of the lab
SCRIPT = REPO / "examples" / "faulty.py"
ENDS_WITHIN_S = 600.0
HANGS_FOR_S = 40.0  # that a hang may take to be told
_EVERY_S = 0.5
_LOOKS_AGAIN_S = 2.5  # until the watch has seen the last steps

Undo = Callable[[], None]


def watch(product: Product, case: Case, lab: Lab | None) -> Seen:
    """Launch it, do to it what the case says, and read what was found."""
    run = product.api("POST", "runs", json=_asked(case, in_lab=lab is not None))["id"]
    end = time.monotonic() + ENDS_WITHIN_S
    acted_at: float | None = None
    undo: Undo = lambda: None  # noqa: E731
    hangs_since = 0.0
    try:
        while time.monotonic() < end:
            shown = product.api("GET", f"runs/{run}")
            steps = shown["steps"] or 0
            if shown["status"] == "ended":
                break
            if lab is not None and case.act[0] and acted_at is None and steps >= (case.onset or 0):
                acted_at = time.time()
                undo = act(lab, *case.act)
            if case.hangs and steps >= (case.onset or 0) - 1 and not hangs_since:
                hangs_since = time.monotonic()
            if hangs_since and _told(product, run, case, since=hangs_since):
                break
            time.sleep(_EVERY_S)
        return _seen(product, run, case, acted_at)
    finally:
        undo()
        if product.api("GET", f"runs/{run}")["status"] != "ended":
            product.api("POST", f"runs/{run}/stop")
            _wait_for_end(product, run)


def act(lab: Lab, name: str, numbers: tuple[int, ...]) -> Undo:
    """Do it; how to undo it."""
    if name == "starve":
        starved = Starved(lab.pid_of(numbers[0]), numbers[1] / 100)
        starved.begin()
        return starved.end
    if name == "stop":
        pid = lab.pid_of(numbers[0])
        os.kill(pid, signal.SIGSTOP)
        return lambda: os.kill(pid, signal.SIGCONT)
    if name == "kill":
        os.kill(lab.pid_of(numbers[0]), signal.SIGKILL)
        return lambda: None
    if name == "burn":
        return subprocess.Popen([sys.executable, "-c", "while True: pass"]).kill
    getattr(lab.network, name)(*numbers)
    return lab.network.heal


def _asked(case: Case, *, in_lab: bool) -> dict[str, Any]:
    env = {"OMP_NUM_THREADS": "1", "FAULT": case.fault, "MODEL_MB": f"{case.model_mb}"}
    nodes = min(case.ranks, NODES) if in_lab and case.is_alone else 1
    on_nodes = INTERFACE if in_lab else {}
    return {
        "project": "demo",
        "name": f"{case.row}, seed {case.seed}",
        "argv": [str(SCRIPT), "--steps", str(case.steps), "--step-ms", str(STEP_MS)],
        "env": {**env, **on_nodes},
        "nodes": nodes,
        "ranks_per_node": case.ranks // nodes,
        "grace": 2,
    }


def _told(product: Product, run: str, case: Case, *, since: float) -> bool:
    """All hangs that are expected have an incident, or the time for it is over."""
    kinds = [incident["kind"] for incident in product.api("GET", f"runs/{run}/incidents")]
    return kinds.count("hang") >= len(case.expected) or time.monotonic() - since > HANGS_FOR_S


def _seen(product: Product, run: str, case: Case, acted_at: float | None) -> Seen:
    shown = product.api("GET", f"runs/{run}")
    if case.hangs:
        time.sleep(_LOOKS_AGAIN_S)
    clock = _clock(product, run)
    incidents = tuple(spotted(one) for one in product.api("GET", f"runs/{run}/incidents"))
    if any(expected.is_of(FAILED) for expected in case.expected):
        incidents += ended(shown)
    return Seen(case, incidents, clock, acted_at, shown["sentence"])


def _clock(product: Product, run: str) -> tuple[float, ...]:
    """When each step ended; nothing of a run that failed before its first one."""
    if not any(metric["name"] == "clock" for metric in product.api("GET", f"runs/{run}/metrics")):
        return ()
    return tuple(value for _, value in product.api("GET", f"runs/{run}/metrics?name=clock&rank=0")["points"])


def _wait_for_end(product: Product, run: str) -> None:
    end = time.monotonic() + ENDS_WITHIN_S
    while product.api("GET", f"runs/{run}")["status"] != "ended" and time.monotonic() < end:
        time.sleep(_EVERY_S)
