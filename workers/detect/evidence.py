"""How sure it is by now that a rank is late: a sum over steps, in which a large lateness needs few and noise none.

Of each step it adds by how much the rank was late, in units of its noise, but of no less than 5 % of the step: at most
3 units, less one. A step or three of evaluation, saving or collection come to half of what is asked for. What a rank
does now and then is taken back by the steps in between; lateness below one unit never adds up.

A little lateness is hidden by the noise of all parts of a step together, not by that of the one part in which it is: so
the same is done for each part by itself, whose least unit is smaller and which is asked for more.
"""

from dataclasses import dataclass

import numpy as np

from webapp.telemetry.spread import median
from workers.detect.excess import SHARE, Excess
from workers.detect.table import Bools, Floats

MOST, SLACK, ENOUGH = 3.0, 1.0, 11.5  # units
LITTLE, ENOUGH_LITTLE = 0.025, 13.0  # of the step, in one part; units
NOW = 10  # steps in whose middle all of a rank's own work must be longer too, not one part instead of another
NEWEST, LATE = 5, 4  # steps, and how many of them must be late: what is over is not told any more
_TO_SIGMA = 1.4826


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the steps of a window come to: `now` per rank, `parts` n x m."""

    now: Bools
    parts: Bools


def evidence(late: Excess) -> Evidence:
    """Looked for once, since to add it up costs more than all that follows from it."""
    return Evidence(_by_now(late), _by_part(late))


def behind(late: Excess) -> Bools:
    """Late by enough to be worth a word, whether or not this step alone proves it."""
    return np.asarray(late.more >= SHARE * late.typical[:, None])


def _by_now(late: Excess) -> Bools:
    """Per rank, whether the newest steps are enough to name it: about six of them, if it is late by much."""
    return _enough(late.more, late.typical, SHARE, ENOUGH)


def _by_part(late: Excess) -> Bools:
    """n x m: the steps in which one part of a rank took longer, of the ranks that this alone proves to be late."""
    found = np.zeros(late.more.shape, bool)
    if late.more.shape[0] < NOW:
        return found
    behind_now = median(late.more[-NOW:], 0) >= LITTLE * np.nanmedian(late.typical[-NOW:])
    for more in late.parts:
        ranks = behind_now & _enough(more, late.typical, LITTLE, ENOUGH_LITTLE)
        found |= ranks & (more >= LITTLE * late.typical[:, None])
    return found


def _enough(more: Floats, typical: Floats, share: float, enough: float) -> Bools:
    if more.shape[0] < NEWEST:
        return np.zeros(more.shape[1], bool)
    least = share * typical[:, None]
    return np.asarray(((more >= least)[-NEWEST:].sum(axis=0) >= LATE) & (_sum(more / _unit(more, least)) >= enough))


def _sum(units: Floats) -> Floats:
    """What has come together until the newest step, never below nothing on its way."""
    added = np.cumsum(np.clip(np.nan_to_num(units), -MOST, MOST) - SLACK, axis=0)
    return np.asarray(added[-1] - np.minimum(0.0, added.min(axis=0)))


def _unit(more: Floats, least: Floats) -> Floats:
    """The noise of each rank in this window: a lateness that has just begun does not move it."""
    moved = np.abs(more - median(more, 0))
    return np.maximum(_TO_SIGMA * median(moved, 0), least)
