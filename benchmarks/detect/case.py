"""One run of the matrix: what is done to it, and what should be said of it."""

from dataclasses import dataclass

STEP_MS = 100
RANKS = 4


@dataclass(frozen=True, slots=True)
class Expected:
    """An incident that should open. Any of `kinds`, `subjects` and `causes` is right; no causes: not asked for."""

    kinds: tuple[str, ...]
    subjects: tuple[str, ...]
    causes: tuple[str, ...] = ()

    def is_of(self, kind: str) -> bool:
        """Whether an incident of that kind may be meant."""
        return kind in self.kinds


@dataclass(frozen=True, slots=True)
class Case:
    """`fault` is done by the script, `act` by the lab: (what, numbers). Both from step `onset` on."""

    row: str
    seed: int
    steps: int
    expected: tuple[Expected, ...] = ()
    fault: str = ""
    act: tuple[str, tuple[int, ...]] = ("", ())
    onset: int | None = None
    ranks: int = RANKS
    hangs: bool = False
    model_mb: float = 2.0

    @property
    def is_alone(self) -> bool:
        """It needs the lab for itself, a rank or two on each node. All others go on one node, a few of them at once."""
        return bool(self.act[0]) or self.hangs or self.ranks > RANKS or not self.fault

    @property
    def is_healthy(self) -> bool:
        """Nothing may be said of it."""
        return not self.expected


def late(rank: int, *causes: str) -> Expected:
    """One rank, by its own work."""
    return Expected(("straggler",), (f"rank {rank}",), causes)


def of_job(kinds: tuple[str, ...], *causes: str) -> Expected:
    """All ranks alike."""
    return Expected(kinds, ("job",), causes)


def stands(subjects: tuple[str, ...], *causes: str) -> Expected:
    """Nothing moves any more."""
    return Expected(("hang",), subjects, causes)
