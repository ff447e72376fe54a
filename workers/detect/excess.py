"""By how much each rank's own work takes longer than that of its peers, step by step."""

from dataclasses import dataclass

import numpy as np

from webapp.telemetry.spread import median
from workers.detect.table import Bools, Floats, Table

SHARE = 0.05  # of the step: less is not worth an alarm
Z = 4.0  # times the noise
NOISE_FLOOR = 0.01  # of the peers' time
Z_OWN = 2.0  # times by how much this rank moves from step to step anyhow
_EXACT_UP_TO = 16  # ranks; of more, one rank does not move the median
_TO_SIGMA = 1.4826  # from a median absolute deviation


@dataclass(frozen=True, slots=True)
class Excess:
    """`more` and `hit`, n x m. `hit`: the rank was late in this step. `typical`: the job's step, seconds, n.

    `parts`: like `more`, of each part by itself, whose noise is smaller than that of all together.
    """

    more: Floats
    hit: Bools
    typical: Floats
    parts: tuple[Floats, ...] = ()


def excess(table: Table) -> Excess:
    """Every rank against the others. A rank without peers to compare with is never late."""
    local = table.local
    centre, noise = _of_others(local)
    more = local - centre
    typical = median(table.step, 1)
    with np.errstate(invalid="ignore"):
        hit = (more >= SHARE * typical[:, None]) & (more >= Z * np.maximum(noise, NOISE_FLOOR * centre))
        hit &= more >= Z_OWN * _jitter(more)
    parts = tuple(values - _of_others(values)[0] for values in table.parts.values())
    return Excess(more, hit & table.told[:, None], typical, parts)


def _jitter(more: Floats) -> Floats:
    """How far each rank moves from step to step, which peers alone do not tell. A lasting change is none."""
    if more.shape[0] < 2:
        return np.zeros(more.shape[1])
    moves = median(np.abs(np.diff(more, axis=0)), 0)
    return np.asarray(np.nan_to_num(_TO_SIGMA / np.sqrt(2) * moves))


def _of_others(local: Floats) -> tuple[Floats, Floats]:
    """Median and noise of each rank's peers."""
    count = local.shape[1]
    if count < 2:
        nothing = np.full(local.shape, np.nan)
        return nothing, nothing
    if count > _EXACT_UP_TO:
        centre = median(local, 1)[:, None]
        noise = _TO_SIGMA * median(np.abs(local - centre), 1)[:, None]
        return np.broadcast_to(centre, local.shape), np.broadcast_to(noise, local.shape)
    centres, noises = [], []
    for rank in range(count):
        others = np.delete(local, rank, axis=1)
        centre = median(others, 1)
        centres.append(centre)
        noises.append(_TO_SIGMA * median(np.abs(others - centre[:, None]), 1))
    return np.stack(centres, axis=1), np.stack(noises, axis=1)
