"""The numbers that every store gets: timers as whole microseconds, and two logged floats, of every rank. Invented,
deterministic for a step, the same for all stores."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

PHASES = {"data": 2_000, "forward": 14_000, "backward": 26_000, "exposed_comm": 6_000, "optimizer": 3_000, "other": 700}
TIMERS = (*(f"phase/{name}" for name in PHASES), "phase/step", "comm/total")
FLOATS = ("loss", "grad_norm")
STEP_S = 0.052
BEGAN = 1.79e9
KINDS = len(TIMERS) + len(FLOATS) + 2  # with the end of the step, and the bytes all-reduced


@dataclass(frozen=True, slots=True)
class Slab:
    """Steps [first, first + rows) of all ranks, every array [rows, ranks]."""

    first: int
    timers: dict[str, np.ndarray]  # whole microseconds
    floats: dict[str, np.ndarray]  # numbers of 32 bits, as a loss is
    end: np.ndarray  # epoch seconds
    nbytes: np.ndarray

    @property
    def points(self) -> int:
        """How many numbers this is."""
        return self.end.size * KINDS

    @property
    def series(self) -> dict[str, np.ndarray]:
        """All of it as floats by name, for stores that know nothing else."""
        made = {**self.timers, **self.floats, "step/end": self.end, "comm/bytes": self.nbytes}
        return {name: values.astype(np.float64) for name, values in made.items()}


def slabs(ranks: int, rows: int, first: int = 0) -> Iterator[Slab]:
    """One after the other, without end."""
    while True:
        yield slab(ranks, rows, first)
        first += rows


def slab(ranks: int, rows: int, first: int) -> Slab:
    """Phases vary by a twentieth; a loss falls, with noise."""
    random = np.random.default_rng(first)
    shape = (rows, ranks)
    timers = {f"phase/{name}": random.normal(us, us / 20, shape).astype("<u4") for name, us in PHASES.items()}
    timers["phase/step"] = np.sum(list(timers.values()), axis=0).astype("<u4")
    timers["comm/total"] = timers["phase/exposed_comm"] * np.uint32(2)
    steps = first + np.arange(rows)[:, None]
    loss = 1.5 + 3 * np.exp(-steps / 4_000) + random.normal(0, 0.05, shape)
    floats = {"loss": loss.astype("<f4"), "grad_norm": random.gamma(9, 0.1, shape).astype("<f4")}
    end = np.round(BEGAN + steps * STEP_S + random.normal(0, 2e-4, shape), 6)
    return Slab(first, timers, floats, end, np.full(shape, 7.4e6))
