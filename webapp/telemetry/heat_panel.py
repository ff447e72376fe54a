"""The rank x step panel: binned to the pixels, its range fixed by the whole run, so that quiet stays pale. Pure."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from webapp.telemetry import findings
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.panel_lines import Panel, count, numbers
from webapp.telemetry.panels import MOST_WORST
from webapp.telemetry.read import Series
from webapp.telemetry.spread import Rank
from webapp.telemetry.thinning import bins

MOST_ROWS = 64
_MOST_CELLS = 18_000  # 281 bins of steps beside 64 of ranks, about 95 kB


@dataclass(frozen=True, slots=True)
class Group:
    """A node's ranks, from first to last."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Ground:
    """What a heatmap is read against: the phase's and the step's typical seconds in the whole run, and the nodes.

    `noise`: how far above its middle a usual rank's slow steps are.
    """

    typical: float
    noise: float
    step: float
    groups: list[Group]


def heat(phase: str, series: Series, ranks: list[Rank], ground: Ground, width: int) -> Panel:
    """A bin of ranks or steps shows its greatest."""
    columns = np.array(series.columns, dtype=np.int64)
    rows = bins(columns.size, MOST_ROWS)
    across = bins(series.index.size, max(1, min(width, _MOST_CELLS // max(1, rows.size))))
    z = _greatest(_greatest(series.maxs, rows, 1), across, 0).T if series.maxs.size else series.maxs.T
    x = series.index[across] if series.index.size else series.index
    return {
        "unit": "ms",
        "axis": "step",
        "x": x.tolist(),
        "rows": _row_names(columns, rows),
        "nodes": _node_rows(columns, rows, ground.groups),
        "z": [numbers(row * 1e3, 1) for row in z],
        "range": _range(ground),
        "worst": [f"rank {rank.rank}" for rank in ranks[:MOST_WORST]],
        "finding": findings.heat(phase, ranks),
        "reduction": _("every rank") if columns.size <= MOST_ROWS else _("greatest of every bin of ranks"),
        **count(int(x.size), [series]),
    }


def _greatest(values: Floats, starts: Ints, axis: int) -> Floats:
    """Of each bin along an axis, the bins' firsts with their seconds and so on: NumPy's `reduceat` is much slower."""
    things = np.moveaxis(values, axis, 0)
    last = np.append(starts[1:], things.shape[0]) - 1
    found = things[starts]
    for k in range(1, int((last - starts).max()) + 1):
        found = np.fmax(found, things[np.minimum(starts + k, last)])
    return np.moveaxis(found, 0, axis)


def _row_names(columns: Ints, starts: Ints) -> list[str]:
    if not columns.size:
        return []
    ends = np.append(starts[1:], columns.size) - 1
    pairs = zip(columns[starts].tolist(), columns[ends].tolist(), strict=True)
    return [str(first) if first == last else f"{first}–{last}" for first, last in pairs]


def _node_rows(columns: Ints, starts: Ints, groups: list[Group]) -> list[list[Any]]:
    first = np.searchsorted(columns, [group.first for group in groups])
    last = np.searchsorted(columns, [group.last for group in groups], "right") - 1
    rows = (np.searchsorted(starts, [first, last], "right") - 1).T.tolist()
    here = (first <= last).tolist()
    return [[group.name, *row] for group, row, is_here in zip(groups, rows, here, strict=True) if is_here]


def _range(ground: Ground) -> list[float]:
    """From the typical value to half a step above it, in ms, in steps that do not move with every new point.

    Further where steps are uneven on all ranks: noise must not look like a slow rank.
    """
    most = max(0.5 * ground.step, 3 * ground.noise) * 1e3
    half = _nice(most) if most > 0 else 1.0
    low = 0.0 if np.isnan(ground.typical) else np.floor(ground.typical * 1e3 / (half / 16)) * half / 16
    return [round(float(low), 3), round(float(low + half), 3)]


def _nice(value: float) -> float:
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(k for k in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if value <= k * power) * power)
