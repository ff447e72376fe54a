"""The faults, by seed: which rank, which link and from which step on is chance, the rest is the row's."""

import random
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.detect.case import RANKS, STEP_MS, Case, Expected, late, of_job, stands
from benchmarks.detect.ended import FAILED

SHARES = (5, 8, 15, 50, 200)  # per cent of the step
_AFTER = {5: 90, 8: 70}  # steps that a small fault is given
_AFTER_ALL = 60
_AFTER_NETWORK = 100  # which is placed by samples that come once a second
_AFTER_LOSS = 180  # for a few lost packets take no time, only their share is told
_BASELINE = 105  # steps before a change of the whole job, whose past must be known
_HANG_STEPS = 100_000


def cases(seed: int) -> Iterator[Case]:
    """The whole matrix; whatever has an `act` needs the lab."""
    chance = random.Random(seed)
    yield Case("healthy", seed, 500)
    yield Case("healthy, busy machine", seed, 300, act=("burn", ()), onset=40)
    yield from _slow_compute(seed, chance)
    yield from _slow_otherwise(seed, chance)
    yield from _passing(seed, chance)
    yield from _network(seed, chance)
    yield from _hangs(seed, chance)


def quick(seed: int) -> list[Case]:
    """Four runs without the lab, which go at the same time. Few ranks, since each of them costs seconds to start."""
    chance = random.Random(seed)
    rank, other = chance.randrange(3), chance.randrange(3)
    return [
        Case("healthy", seed, 160, ranks=2),
        _slow(seed, "backward", rank, 100, 60, 160, ranks=3),
        _slow(seed, "data", other, 50, 60, 160, ranks=3),
        _all_slow(seed, _BASELINE, _BASELINE + _AFTER_ALL, ranks=2),
    ]


def shortest(seed: int) -> list[Case]:
    """One that nothing may be said of, and one rank so late that a busy machine does not hide it."""
    return [Case("healthy", seed, 90, ranks=2), _slow(seed, "backward", 1, 200, 40, 90, ranks=2)]


def _slow(seed: int, part: str, rank: int, share: int, onset: int, steps: int, *, ranks: int = RANKS) -> Case:
    ms = share * STEP_MS // 100
    fault = f"{part}:rank={rank}:ms={ms}:from={onset}"
    causes = (part, "other") if part == "optimizer" else (part,)
    return Case(f"{part} +{share} %", seed, steps, (late(rank, *causes),), fault, onset=onset, ranks=ranks)


def _all_slow(seed: int, onset: int, steps: int, *, ranks: int = RANKS) -> Case:
    expected = of_job(("regression",), "forward")
    return Case("all slower +40 %", seed, steps, (expected,), f"all:ms=40:from={onset}", onset=onset, ranks=ranks)


def _slow_compute(seed: int, chance: random.Random) -> Iterator[Case]:
    for part in ("forward", "backward"):
        for share in SHARES:
            onset = chance.randint(40, 80)
            yield _slow(seed, part, chance.randrange(RANKS), share, onset, onset + _AFTER.get(share, _AFTER_ALL))


def _slow_otherwise(seed: int, chance: random.Random) -> Iterator[Case]:
    onset, rank = chance.randint(40, 80), chance.randrange(RANKS)
    end = onset + _AFTER_ALL
    yield _slow(seed, "data", rank, 60, onset, end)
    wanders = (Expected(("wandering",), ("job",), ("data",)),)
    yield Case("data, wandering", seed, end, wanders, f"wander:ms=80:from={onset}", onset=onset)
    yield _slow(seed, "optimizer", rank, 40, onset, end)
    every = f"other:rank={rank}:ms=150:from={onset}:every=5"
    yield Case("one rank, every 5th step", seed, onset + 90, (late(rank, "other"),), every, onset=onset)
    starved = (late(rank, "cpu", "unknown"),)
    yield Case("processor taken away", seed, end, starved, act=("starve", (rank, 60)), onset=onset)
    first, second = chance.sample(range(8), 2)
    both = f"backward:rank={first}:ms=80:from={onset};data:rank={second}:ms=60:from={onset}"
    yield Case(
        "two culprits of 8", seed, end, (late(first, "backward"), late(second, "data")), both, onset=onset, ranks=8
    )
    yield _all_slow(seed, _BASELINE + onset // 4, _BASELINE + onset // 4 + _AFTER_ALL)


def _passing(seed: int, chance: random.Random) -> Iterator[Case]:
    rank, step = chance.randrange(RANKS), chance.randint(60, 90)
    blips = f"forward:rank={rank}:ms=300:from={step}:to={step + 3};backward:rank={rank}:ms=500:from={step + 40}"
    yield Case("1 to 3 slow steps", seed, 180, fault=f"{blips}:to={step + 41}")
    yield Case("evaluation", seed, 240, fault="eval:every=50:ms=3000")
    yield Case("checkpoint on rank 0", seed, 240, fault="checkpoint:rank=0:every=50:ms=1500")


def _network(seed: int, chance: random.Random) -> Iterator[Case]:
    onset = _BASELINE + chance.randint(0, 20)
    kinds = ("network",)
    node = chance.randrange(RANKS)
    a, b = node, (node - 1) % RANKS  # the way that the ring of all-reduce sends
    of_node, of_link = (f"node {node}",), (f"link {a}-{b}",)

    def case(row: str, subjects: tuple[str, ...], what: str, *numbers: int) -> Case:
        expected = (Expected(kinds, subjects, ("network",)),)
        end = onset + (_AFTER_LOSS if what == "lose" else _AFTER_NETWORK)
        return Case(row, seed, end, expected, act=(what, numbers), onset=onset)

    yield case("network card 200 Mbit", of_node, "cap", node, 200)
    yield case("one link 200 Mbit", of_link, "cap_link", a, b, 200)
    for permille in (5, 10, 30):
        yield case(f"loss {permille / 10:g} %", of_link, "lose", b, permille, a)
    for ms in (2, 5, 20):
        yield case(f"latency +{ms} ms", of_node, "delay", node, ms)


def _hangs(seed: int, chance: random.Random) -> Iterator[Case]:
    """A rank that is gone, and for gloo one that sends too much, end the run: then its end has to say so."""
    step, rank = chance.randint(60, 90), chance.randrange(RANKS)
    name, node = (f"rank {rank}",), (f"node {rank}", f"rank {rank}", "job")

    def by_script(row: str, kind: str) -> Case:
        fault = f"{kind}:rank={rank}:from={step}:to={step + 1}"
        return Case(row, seed, _HANG_STEPS, (stands(name),), fault, onset=step, hangs=True)

    def by_lab(row: str, subjects: tuple[str, ...], what: str) -> Case:
        return Case(row, seed, _HANG_STEPS, (stands(subjects),), act=(what, (rank,)), onset=step, hangs=True)

    yield by_script("hang: sleeps", "hang")
    yield by_script("hang: holds the interpreter", "spin_gil")
    yield by_script("hang: collective left out", "skip")
    different = of_job((FAILED,), "collective_mismatch")
    yield replace(by_script("hang: other size", "mismatch"), expected=(different,))
    yield by_lab("hang: stopped", name, "stop")
    yield by_lab("hang: cable pulled", node, "cut")
    killed = Expected((FAILED,), name, ("killed_by_signal",))
    yield replace(by_lab("hang: killed", name, "kill"), expected=(killed,))
