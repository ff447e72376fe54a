"""Ranks that are late by their own work: always, now and then, or a different one each time."""

from collections.abc import Iterable
from dataclasses import replace
from math import comb

import numpy as np

from webapp.incidents.finding import JOB, STRAGGLER, STRUCTURAL, WANDERING, Finding
from webapp.telemetry.spread import median
from workers.detect.cause import Over, cause_of
from workers.detect.evidence import LATE, NEWEST, NOW, Evidence, behind, evidence
from workers.detect.excess import SHARE, Excess, excess
from workers.detect.onset import onset
from workers.detect.table import Bools, Floats, Table

HITS_NOW = 8  # of the newest `NOW` steps a rank must be late
STILL, HITS_STILL = 20, 3
LONG, HITS_LONG = 60, 6  # for one that is late now and then
STRETCHES = 4  # of the newest steps, in each of which it must be late: what passes comes in one burst
_STRETCH = 12  # steps
SOLE = 0.6  # of the late steps must be of the same rank, else the lateness wanders
BY_CHANCE = 1e-4  # that so many of the late steps would be of this rank, if each rank's turn came equally often
WANDERS = 0.8  # of the newest 20 steps are late by somebody
_WANDER_STEPS = 20
_WANDERS_FROM = 3  # ranks: of two, each is behind the other half of the time
_STRUCTURAL = 0.25  # of all ranks late together, in a job of at least 8: no bad rank but an uneven split
_STRUCTURAL_FROM = 8


def stragglers(table: Table, *, on_gpu: bool = False, late_before: frozenset[int] = frozenset()) -> list[Finding]:
    """Findings about late ranks in the window's newest steps; the victims, which wait for them, are never among them.

    A rank of `late_before` stays late until it is so in fewer than `HITS_STILL` of the newest `STILL` steps.
    """
    if table.ranks.size < 2 or table.steps.size < NOW:
        return []
    late = excess(table)
    found = evidence(late)
    late = _proven(late, found)
    fixed = _fixed(late, found, np.isin(table.ranks, list(late_before)))
    if not fixed and not late.hit[-LONG:].any():
        return []
    seldom = [column for column in _now_and_then(late) if column not in fixed]
    late = _at_present(late, fixed)
    if len(fixed) >= _STRUCTURAL * table.ranks.size and table.ranks.size >= _STRUCTURAL_FROM and len(fixed) > 2:
        return _whole_nodes(table, late, fixed, on_gpu) or [_structural(table, late, fixed)]
    if fixed or seldom:
        named = [_named(table, late, column, fixed, on_gpu) for column in fixed]
        return [
            *(_whole_nodes(table, late, fixed, on_gpu) or named),
            *(_now_and_then_named(table, late, column, on_gpu) for column in seldom),
        ]
    return _wandering(table, late)


def enough_to_name(late: Excess) -> Bools:
    """Per rank: whether its newest steps alone say that it is late."""
    return _enough(late, evidence(late))


def seems_late(table: Table) -> bool:
    """Whether it is worth asking `enough_to_name`, which costs ten times as much."""
    newest = table.newest(NOW)
    if table.ranks.size < 2 or newest.steps.size < NOW:
        return False
    more = newest.local - median(newest.local, 1)[:, None]
    return bool(((more >= SHARE / 2 * median(newest.step, 1)[:, None]).sum(axis=0) >= LATE).any())


def slowdown(table: Table, late: Excess, columns: Iterable[int], rows: Bools) -> float:
    """By which share the steps in `rows` would be shorter-lived without these ranks' lateness: S - 1."""
    columns = list(columns)
    local = table.local[rows]
    others = np.delete(local, columns, axis=1)
    if not others.shape[1] or not rows.any():
        return 0.0
    lost = np.clip(_most(local) - _most(others), 0.0, None)
    step = float(np.nansum(late.typical[rows]))
    gone = float(np.nansum(lost))
    return gone / (step - gone) if step > gone > 0 else 0.0


def _enough(late: Excess, found: Evidence) -> Bools:
    return np.asarray((late.hit[-NOW:].sum(axis=0) >= HITS_NOW) | found.now | found.parts.any(axis=0))


def _fixed(late: Excess, found: Evidence, before: Bools) -> list[int]:
    """Columns. Where one is named for its newest steps, those that were late along with it are named too."""
    now = _enough(late, found)
    along = now.any() & (late.hit[-NEWEST:].sum(axis=0) >= LATE)
    still = before & (late.hit[-STILL:].sum(axis=0) >= HITS_STILL)
    return [int(column) for column in np.flatnonzero(now | along | still)]


def _proven(late: Excess, found: Evidence) -> Excess:
    """Of a rank that many steps together prove to be late, those count that alone would not."""
    return replace(late, hit=late.hit | (behind(late) & found.now) | found.parts)


def _at_present(late: Excess, fixed: list[int]) -> Excess:
    """Without what these ranks had before they became late for good, which has reasons and costs of its own."""
    hit = late.hit.copy()
    for column in fixed:
        hit[: onset(hit[:, column]), column] = False
    return replace(late, hit=hit)


def _now_and_then(late: Excess) -> list[int]:
    """Late in some steps, but it is always this one, again and again, and it costs enough on average."""
    rows = _long(late.hit.shape[1])
    hit, more = late.hit[-rows:], late.more[-rows:]
    anyone = int(hit.any(axis=1).sum())
    if anyone < HITS_LONG:
        return []
    count = hit.sum(axis=0)
    cost = np.where(hit, more, 0.0).sum(axis=0)
    worth = cost >= SHARE * np.nansum(late.typical[-rows:])
    seldom = np.flatnonzero((count >= HITS_LONG) & (count >= SOLE * anyone) & worth & _recurs(hit)).tolist()
    return [column for column in seldom if _chance(int(count[column]), anyone, count.size) <= BY_CHANCE]


def _long(ranks: int) -> int:
    """Steps. Of two ranks each is the later one half of the time, so that it takes more of them to tell."""
    return LONG if ranks > 2 else 2 * LONG


def _chance(count: int, anyone: int, ranks: int) -> float:
    """That one rank of `ranks` has `count` or more out of `anyone`."""
    odds = 1 / ranks
    return sum(comb(anyone, k) * odds**k * (1 - odds) ** (anyone - k) for k in range(count, anyone + 1))


def _recurs(hit: Bools) -> Bools:
    if hit.shape[0] < STRETCHES * _STRETCH:
        return np.zeros(hit.shape[1], bool)
    stretches = hit[-STRETCHES * _STRETCH :].reshape(STRETCHES, _STRETCH, -1)
    return np.asarray(stretches.any(axis=1).all(axis=0))


def _wandering(table: Table, late: Excess) -> list[Finding]:
    hit = late.hit[-_WANDER_STEPS:]
    anyone = hit.any(axis=1)
    enough = hit.shape[0] == _WANDER_STEPS and anyone.mean() >= WANDERS
    if not enough or hit.shape[1] < _WANDERS_FROM or hit.sum(axis=0).max() > SOLE * anyone.sum():
        return []
    rows = np.zeros(table.steps.size, bool)
    rows[-_WANDER_STEPS:] = anyone
    causes = [
        cause_of(table, c, late.hit[:, c] & rows, on_gpu=False)[0] for c in np.flatnonzero(_anyone(hit.T)).tolist()
    ]
    cause = max(set(causes), key=causes.count)
    return [
        Finding(
            WANDERING,
            JOB,
            cause,
            _lost_to_the_latest(table, late, rows),
            _since(table, _anyone(late.hit)),
            evidence={"ranks": float(_anyone(hit.T).sum())},
        )
    ]


def _lost_to_the_latest(table: Table, late: Excess, rows: Bools) -> float:
    local = table.local[rows]
    ordered = np.sort(np.where(np.isnan(local), -np.inf, local), axis=1)
    lost = float(np.sum(ordered[:, -1] - np.median(ordered, axis=1)))
    step = float(np.nansum(late.typical[rows]))
    return lost / (step - lost) if step > lost > 0 else 0.0


def _named(table: Table, late: Excess, column: int, together: list[int], on_gpu: bool) -> Finding:
    """`together`: all that are late now; without only one of them the step would not be shorter."""
    lost = slowdown(table, late, together, _lasting(late, together))
    return _of_rank(table, late, column, _lasting(late, [column]), on_gpu=on_gpu, lost=lost, over=np.nanmedian)


def _now_and_then_named(table: Table, late: Excess, column: int, on_gpu: bool) -> Finding:
    """Its cost is spread over all steps of the window; it began with the first late one."""
    every = np.zeros(table.steps.size, bool)
    every[-_long(table.ranks.size) :] = True
    lost = slowdown(table, late, [column], every)
    return _of_rank(table, late, column, late.hit[:, column] & every, on_gpu=on_gpu, lost=lost, over=np.nanmean)


def _of_rank(table: Table, late: Excess, column: int, rows: Bools, *, on_gpu: bool, lost: float, over: Over) -> Finding:
    """`rows`: the steps that tell why."""
    cause, probable, parts = cause_of(table, column, rows, on_gpu=on_gpu, over=over)
    rank = int(table.ranks[column])
    return Finding(
        STRAGGLER,
        f"rank {rank}",
        cause,
        lost,
        int(table.steps[np.flatnonzero(rows)[0]]),
        probable=probable,
        rank=rank,
        node_rank=int(table.nodes[column]),
        evidence={
            "excess": float(over(late.more[rows, column])),
            "hits": float(late.hit[-LONG:, column].mean()),
            **{f"excess/{part}": value for part, value in parts.items()},
        },
    )


def _whole_nodes(table: Table, late: Excess, columns: list[int], on_gpu: bool) -> list[Finding]:
    """One finding per node, when the late ranks are all ranks of some nodes and a node has several."""
    nodes = {int(table.nodes[column]) for column in columns}
    members = {node: np.flatnonzero(table.nodes == node).tolist() for node in nodes}
    if not nodes or any(len(mine) < 2 for mine in members.values()):
        return []
    everyone = sorted(column for mine in members.values() for column in mine)
    if sorted(columns) != everyone or len(everyone) == table.ranks.size:
        return []
    why = {
        column: cause_of(table, column, _lasting(late, [column]), on_gpu=on_gpu, over=np.nanmedian)
        for column in columns
    }
    if any(len({why[column][0] for column in mine if not why[column][1]}) > 1 for mine in members.values()):
        return []  # neighbours by chance, each late by a part of its own
    rows = _lasting(late, columns)
    lost = slowdown(table, late, columns, rows)
    found = []
    for node, mine in sorted(members.items()):
        words = [why[column][0] for column in mine]
        cause = max(set(words), key=words.count)
        first = min(_since(table, late.hit[:, column]) for column in mine)
        more = float(np.nanmean(late.more[rows][:, mine]))
        found.append(Finding(STRAGGLER, f"node {node}", cause, lost, first, node_rank=node, evidence={"excess": more}))
    return found


def _structural(table: Table, late: Excess, columns: list[int]) -> Finding:
    lost = slowdown(table, late, columns, _lasting(late, columns))
    first = _since(table, np.asarray(late.hit[:, columns].all(axis=1)))
    return Finding(STRUCTURAL, JOB, "code", lost, first, evidence={"ranks": float(len(columns))})


def _since(table: Table, hit: Bools) -> int:
    return int(table.steps[onset(hit)])


def _anyone(hit: Bools) -> Bools:
    return np.asarray(hit.any(axis=1))


def _lasting(late: Excess, columns: list[int]) -> Bools:
    """All steps since the first of them is late for good, in time or not: those that prove its lateness are the ones in
    which its other parts, and the whole, happened to take longer too.
    """
    return np.asarray(np.arange(late.hit.shape[0]) >= min(onset(late.hit[:, column]) for column in columns))


def _most(values: Floats) -> Floats:
    return np.asarray(np.where(np.isnan(values), -np.inf, values).max(axis=1))
