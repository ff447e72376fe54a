"""Telemetry never slows or stops training: the same script with Paceline and without it, in turns.

Two launches live side by side and never train at once: one by plain torchrun, one on a node of the product. In each
state of the node's agent they take turns of about a second; the ratio of a pair's median step times is one sample.
"""

import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.acts import disk_full, paused
from benchmarks.faults.asking import ask
from benchmarks.faults.attacked import SLOTS, Attacked, alive, send
from benchmarks.faults.pace_train import EXIT_CODE
from benchmarks.faults.told import Told
from benchmarks.product import NOT_INHERITED, wait_for

SCRIPT = Path(__file__).with_name("pace_train.py")
PAIRS = 8
STATES = ("healthy", "killed", "stopped", "disk full")
SLOWER = 1.05  # the whole interval above this is more than noise
T_95 = {8: 2.365}  # Student's t for PAIRS samples


@dataclass(frozen=True, slots=True)
class Ratio:
    """Step time with Paceline over step time without, and its 95 % interval."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:.3f} [{self.low:.3f}, {self.high:.3f}] of the step time without Paceline"


def measure(attacked: Attacked, told: Told) -> dict[str, Ratio]:
    """The ratio in each state of the agent. RuntimeError where the script did not end with its own exit code."""
    with tempfile.TemporaryDirectory(prefix="paceline-pace-") as folder, ExitStack() as stack:
        turns = Turns(Path(folder))
        stack.enter_context(without_paceline(turns.folder))
        uid = launch(attacked, turns.folder)
        found: dict[str, Ratio] = {}
        turns.pair()  # both have started
        node = str(ask(attacked.product, "GET", f"runs/{uid}").json()["node_names"][0])
        for state in STATES:
            with agent_is(state, attacked, node):
                found[state] = ratio_of([turns.pair() for _ in range(PAIRS)])
            told(
                "pace", f"agent {state:10} {found[state].middle:.3f} [{found[state].low:.3f}, {found[state].high:.3f}]"
            )
        with agent_is("stopped", attacked, node):
            turns.end()
        check_exit(attacked, uid)
        told("pace", f"exit code {EXIT_CODE}, the script's own")
    return found


class Turns:
    """Gives the word to one launch, then to the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._turn = 0

    def pair(self) -> float:
        """One turn each, the first one in alternation; ratio of the medians."""
        arms = ["with", "without"] if self._turn % 2 else ["without", "with"]
        medians = {arm: self._take(arm) for arm in arms}
        self._turn += 1
        return medians["with"] / medians["without"]

    def end(self) -> None:
        """Both launches end."""
        (self.folder / "end").touch()

    def _take(self, arm: str) -> float:
        (self.folder / f"{self._turn}.{arm}.go").touch()
        written = [self.folder / f"{self._turn}.{arm}.rank{rank}" for rank in range(SLOTS)]
        wait_for(lambda: all(path.exists() for path in written), 120, f"turn {self._turn} {arm} Paceline")
        seconds: list[float] = [second for path in written for second in json.loads(path.read_text())]
        return statistics.median(seconds)


def ratio_of(samples: list[float]) -> Ratio:
    """Geometric mean and its interval by Student's t."""
    logs = [math.log(sample) for sample in samples]
    middle = statistics.fmean(logs)
    half = T_95[len(logs)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


def slowed(found: dict[str, Ratio]) -> list[str]:
    """The states in which training is slower by more than noise."""
    return [state for state, ratio in found.items() if ratio.low > SLOWER]


@contextmanager
def without_paceline(turns: Path) -> Iterator[None]:
    """The script by plain torchrun."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(SLOTS)]
    command = [*torchrun, str(SCRIPT), "--turns", str(turns), "--arm", "without"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment())
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def environment() -> dict[str, str]:
    """What both launches have."""
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    return {**inherited, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def launch(attacked: Attacked, turns: Path) -> str:
    """The script on one node of the product; the run's id."""
    asked = {
        "project": "demo",
        "name": "pace",
        "argv": [str(SCRIPT), "--turns", str(turns), "--arm", "with"],
        "ranks_per_node": SLOTS,
        "env": {"OMP_NUM_THREADS": "1"},
    }
    return str(attacked.product.api("POST", "runs", json=asked)["id"])


@contextmanager
def agent_is(state: str, attacked: Attacked, node: str) -> Iterator[None]:
    """While this lasts, the agent of that node is so; afterwards it is healthy again."""
    assert attacked.up is not None
    if state == "killed":
        with paused(attacked.up.pid):  # which would start it again
            send(attacked.pid_of(node), signal.SIGKILL)
            yield
        wait_for(lambda: alive(attacked.pid_of(node)), 30, f"{node} to be started again")
        return
    held = {"stopped": paused(attacked.pid_of(node)), "disk full": full_if_small(attacked, node)}
    with held.get(state, nullcontext()):
        yield


@contextmanager
def full_if_small(attacked: Attacked, node: str) -> Iterator[None]:
    """A disk is filled only where it is one of our own."""
    with disk_full(attacked.home / "nodes" / node) if attacked.has_small_disks else nullcontext():
        yield


def check_exit(attacked: Attacked, uid: str) -> None:
    """RuntimeError unless the run ended with the script's own code."""

    def ended() -> dict[str, object]:
        run: dict[str, object] = ask(attacked.product, "GET", f"runs/{uid}").json()
        return run if run["status"] == "ended" else {}

    run = wait_for(ended, 90, f"the end of {uid}")
    if run["outcome"] != "failed" or f"exit code {EXIT_CODE}" not in str(run["sentence"]):
        raise RuntimeError(f"the script ended with {EXIT_CODE}, but the run is {run['outcome']}: {run['sentence']}")
