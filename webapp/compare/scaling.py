"""What more ranks bring: throughput against world size, and how much of the ideal it is. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from webapp.telemetry.series import Series
from webapp.telemetry.spread import middle


@dataclass(frozen=True, slots=True)
class Pace:
    """One run. `throughput`: rank steps, samples or tokens in a second of all ranks together."""

    uid: str
    ranks: int
    throughput: float


@dataclass(frozen=True, slots=True)
class Point:
    """`efficiency`: 1 where each rank brings as much as it does at the smallest world size."""

    uid: str
    ranks: int
    throughput: float
    efficiency: float


def points(paces: Sequence[Pace]) -> list[Point]:
    """Those that are known, by ranks. The smallest world size sets the ideal: the median of its runs."""
    known = sorted((p for p in paces if p.ranks > 0 and np.isfinite(p.throughput)), key=lambda p: (p.ranks, p.uid))
    if not known:
        return []
    each = float(np.median([p.throughput / p.ranks for p in known if p.ranks == known[0].ranks]))
    return [Point(p.uid, p.ranks, p.throughput, p.throughput / p.ranks / each if each > 0 else np.nan) for p in known]


def chart(found: Sequence[Point]) -> dict[str, Any]:
    """`{uids, ranks, throughput, efficiency (per cent), ideal: {x, y}}`."""
    if not found:
        return {"uids": [], "ranks": [], "throughput": [], "efficiency": [], "ideal": {"x": [], "y": []}}
    first, last = found[0], found[-1]
    each = first.throughput / first.ranks / first.efficiency
    return {
        "uids": [p.uid for p in found],
        "ranks": [p.ranks for p in found],
        "throughput": [float(f"{p.throughput:.5g}") for p in found],
        "efficiency": [round(100 * p.efficiency, 1) for p in found],
        "ideal": {"x": [first.ranks, last.ranks], "y": [each * first.ranks, each * last.ranks]},
    }


def per_step(logged: Series) -> float:
    """What all ranks together do in one step, from values logged for each step or counted up; NaN: not logged."""
    if not logged.columns or not logged.index.size:
        return float("nan")
    return float(np.nansum([_of_rank(logged, column) for column in range(len(logged.columns))]))


def _of_rank(logged: Series, column: int) -> float:
    values = logged.values[:, column]
    known = np.isfinite(values)
    values, steps = values[known], logged.index[known]
    grows = np.diff(values)
    if values.size > 2 and np.all(grows > 0):  # a count since the start
        return middle(grows / np.diff(steps))
    return middle(values)
