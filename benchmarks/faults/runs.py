"""Keeps runs going one after the other, each planned to end in a known way."""

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.asking import ask, ask_once, run_named
from benchmarks.faults.attacked import NODES, SLOTS, Attacked
from benchmarks.faults.told import Told

SCRIPT = Path(__file__).with_name("train.py")
ENDINGS = ("ends", "stop", "exit", "kill", "retry")
GRACE_S = 30
# Steps of 20 ms: how many there are, and where the trouble comes.
SHORTEST, LONGEST = 150, 500


@dataclass(slots=True)
class Planned:
    """A run and how it is meant to end: by itself, stopped by a user after `stop_after` seconds, or with a rank's
    exit code 3 (`exit`, with another attempt: `retry`) or its death by a signal (`kill`)."""

    name: str
    ending: str
    steps: int
    rank: int
    trouble_step: int
    stop_after: float
    uid: str = ""
    stop_asked: bool = False


def plans(seed: int) -> Iterator[Planned]:
    """Without end, by the seed alone; every ending comes once before any comes again."""
    chance = random.Random(seed + 1)
    number = 0
    while True:
        for ending in chance.sample(ENDINGS, len(ENDINGS)):
            number += 1
            steps = chance.randint(SHORTEST, LONGEST)
            yield Planned(
                name=f"storm-{number}-{ending}",
                ending=ending,
                steps=steps,
                rank=chance.randrange(NODES * SLOTS),
                trouble_step=chance.randint(50, steps - 50),
                stop_after=chance.uniform(0, 25),
            )


class Runs:
    """The thread that starts runs until it is told to stop; then it waits for nothing and starts no more."""

    def __init__(self, attacked: Attacked, seed: int, told: Told) -> None:
        self._attacked = attacked
        self._told = told
        self._plans = plans(seed)
        self.over = threading.Event()
        self.begun: list[Planned] = []
        self._thread = threading.Thread(target=self._go, name="runs", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """No more runs; the one that goes on is left to end as planned."""
        self.over.set()
        self._thread.join()

    def _go(self) -> None:
        while not self.over.is_set():
            planned = next(self._plans)
            self._submit(planned)
            self.begun.append(planned)
            self._see_through(planned)

    def _submit(self, planned: Planned) -> None:
        """An answer that got lost may have made a run: its name says so."""
        product = self._attacked.product
        while True:
            reply = ask_once(product, "POST", "runs", json=self._asked(planned))
            if reply is not None:
                reply.raise_for_status()
                planned.uid = str(reply.json()["id"])
            else:
                planned.uid = run_named(product, planned.name)
            if planned.uid:
                self._told("run", f"{planned.uid} {planned.ending}")
                return

    def _see_through(self, planned: Planned) -> None:
        """Until it has ended; a stop is asked for when its time has come."""
        stop_at = time.monotonic() + planned.stop_after
        retried = planned.ending == "retry"
        while True:
            run = ask(self._attacked.product, "GET", f"runs/{planned.uid}").json()
            if run["status"] == "ended" and not (retried and run["attempt"] == 1):
                self._told("run", f"{planned.uid} ended: {run['outcome']}. {run['sentence']}")
                return
            if planned.ending == "stop" and not planned.stop_asked and time.monotonic() > stop_at:
                planned.stop_asked = True
                ask(self._attacked.product, "POST", f"runs/{planned.uid}/stop")
                self._told("run", f"{planned.uid} is asked to stop")
            if self.over.wait(0.5) and not (planned.ending == "stop" and not planned.stop_asked):
                return

    def _asked(self, planned: Planned) -> dict[str, object]:
        trouble = {"exit": "exit", "retry": "exit", "kill": "kill"}.get(planned.ending, "")
        script = [str(SCRIPT), "--book", str(self._attacked.books), "--steps", str(planned.steps)]
        if trouble:
            script += ["--trouble", trouble, "--trouble-rank", str(planned.rank)]
            script += ["--trouble-step", str(planned.trouble_step)]
        shape = {"nodes": NODES, "ranks_per_node": SLOTS, "grace": GRACE_S, "retries": int(planned.ending == "retry")}
        env = {"OMP_NUM_THREADS": "1"}
        return {"project": "demo", "name": planned.name, "argv": script, "env": env, **shape}
