"""Which fault comes next: pure, decided by the seed alone."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

KILLED = ("ingest", "worker", "beat", "web", "redis", "local-1", "local-2")
PAUSED = ("ingest", "redis", "worker", "local-1", "local-2")
# Kinds that last: (shortest, longest) seconds, and the share of the whole time that the longest may take.
LASTING = {
    "pause": (1.0, 25.0, 0.08),
    "redis away": (2.0, 120.0, 0.10),
    "database locked": (2.0, 60.0, 0.08),
    "disk full": (2.0, 40.0, 0.08),
    "late": (1.0, 8.0, 0.05),
}
ONCE = ("kill", "kill up", "flushall", "repeat")
PAIR_SHARE = 0.4
NOT_TOGETHER = [{"kill up", "redis away"}, {"kill up", "database locked"}]  # `up` itself could not start then
NEED_A_SMALL_DISK = {"disk full"}


@dataclass(frozen=True, slots=True)
class Blow:
    """One fault. `seconds` is how long it lasts, 0 where it is done at once."""

    kind: str
    target: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        lasts = f" for {self.seconds:.0f} s" if self.seconds else ""
        return " ".join(filter(None, (self.kind, self.target))) + lasts


def blows(seed: int, seconds: float, *, small_disks: bool) -> Iterator[list[Blow]]:
    """Without end: what is to be done together, one fault or two. Every kind comes once before any comes again."""
    chance = random.Random(seed)
    kinds = [kind for kind in (*ONCE, *LASTING) if small_disks or kind not in NEED_A_SMALL_DISK]
    weighted = [*kinds, "kill", "kill", "kill", "pause"]
    pile: list[str] = chance.sample(kinds, len(kinds))
    while True:
        together = [pile.pop()]
        pile = pile or chance.sample(weighted, len(weighted))
        if chance.random() < PAIR_SHARE and _fit(together[0], pile[-1]):
            together.append(pile.pop())
            pile = pile or chance.sample(weighted, len(weighted))
        yield [_blow(kind, chance, seconds) for kind in together]


def _fit(one: str, other: str) -> bool:
    return one != other and {one, other} not in NOT_TOGETHER


def _blow(kind: str, chance: random.Random, seconds: float) -> Blow:
    targets = {"kill": KILLED, "pause": PAUSED, "disk full": ("local-1", "local-2")}
    target = chance.choice(targets[kind]) if kind in targets else ""
    if kind not in LASTING:
        return Blow(kind, target)
    shortest, longest, share = LASTING[kind]
    longest = max(shortest, min(longest, share * seconds))
    return Blow(kind, target, chance.uniform(max(shortest, longest / 3), longest))
