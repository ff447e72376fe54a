"""Runs a script as ranks under the real launcher with the probe injected, and reads what the ranks left."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.conftest import free_port
from trainer_agent.wire.record import MISSING_US, PHASES, StepRecord, ValueRecord
from trainer_agent.wire.ring_reader import facts_reader, step_reader, value_reader

REPO = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).resolve().parent / "scripts"
INJECT = REPO / "trainer_agent" / "inject"


@dataclass
class Rank:
    """Everything that one rank wrote."""

    steps: list[StepRecord]
    values: list[ValueRecord]
    keys: dict[int, str]
    facts: list[dict[str, Any]]

    def logged(self, key: str) -> list[ValueRecord]:
        return [value for value in self.values if self.keys[value.key] == key]

    def between(self, begin: str, end: str) -> list[StepRecord]:
        """The steps from the one under way when `begin` was logged up to the one when `end` was."""
        return self.steps[self.logged(begin)[0].step : self.logged(end)[0].step]

    @property
    def last_facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = self.facts[-1]["facts"]
        return facts


@dataclass
class Outcome:
    code: int
    output: str
    ranks: list[Rank] = field(default_factory=list)


def torchrun(script: str, ring_dir: Path, *args: str, ranks: int = 2, **env: str) -> Outcome:
    """Run a script of `scripts/` with `ranks` gloo ranks."""
    launcher = ["-m", "torch.distributed.run", f"--nproc-per-node={ranks}", f"--master-port={free_port()}"]
    return run([*launcher, str(SCRIPTS / script), *args], ring_dir, ranks, env)


def python(script: str, ring_dir: Path, *args: str, cwd: Path | None = None, **env: str) -> Outcome:
    """Run a script of `scripts/` as rank 0 without a launcher."""
    return run([str(SCRIPTS / script), *args], ring_dir, 1, {"RANK": "0", **env}, cwd)


def run(argv: list[str], ring_dir: Path, ranks: int, env: dict[str, str], cwd: Path | None = None) -> Outcome:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PACELINE_", "DJANGO_"))}
    path = os.pathsep.join(filter(None, (str(INJECT), env.pop("PYTHONPATH", ""))))
    full = {**clean, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, "PACELINE_RING_DIR": str(ring_dir), **env}
    done = subprocess.run(
        [sys.executable, *argv],
        env=full,
        cwd=cwd or ring_dir.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, [read_rank(str(ring_dir), rank) for rank in range(ranks)])


def read_rank(ring_dir: str, rank: int) -> Rank:
    steps, _ = step_reader(ring_dir, rank).read_new(0)
    values, _ = value_reader(ring_dir, rank).read_new(0)
    facts = facts_reader(ring_dir, rank)
    found = facts.read_new()
    return Rank(steps, values, facts.keys, found)


def steps_of(outcome: Outcome, rank: int, loop: str) -> list[StepRecord]:
    """The steps of one of a script's loops, which logs `begin` and `end` of each."""
    return outcome.ranks[rank].between(f"begin {loop}", f"end {loop}")


def typical(steps: list[StepRecord], phase: str) -> float:
    """Milliseconds of a phase, without the first steps."""
    return median(ms(step, phase) for step in steps[3:])


def ms(step: StepRecord, phase: str) -> float:
    """Milliseconds of a phase that must have been seen."""
    us = step.us[PHASES.index(phase)]
    assert us != MISSING_US, f"{phase} was not seen in step {step.step}"
    return us / 1_000


def seen(step: StepRecord, phase: str) -> bool:
    return step.us[PHASES.index(phase)] != MISSING_US


def parts_sum(step: StepRecord) -> int:
    """Microseconds of data … other together."""
    return sum(us for us in step.us[1:7] if us != MISSING_US)
