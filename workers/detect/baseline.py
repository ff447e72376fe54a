"""What an attempt's steps were like while it was healthy, and whether they still are."""

from dataclasses import dataclass

import numpy as np

from webapp.telemetry.spread import median
from workers.detect.onset import onset
from workers.detect.table import Floats, Table

WINDOW = 60  # healthy steps that make a baseline
_TO_SIGMA = 1.4826
_NOISE_FLOOR = 0.01  # of the usual value
_SLACK, _ALARM, _MOST = 0.5, 8.0, 3.0  # of the cumulative sum, in units of noise
_HELD = 10  # steps over which a shift must hold


@dataclass(frozen=True, slots=True)
class Usual:
    """Median and noise of one number."""

    middle: float
    noise: float

    def far(self, values: Floats) -> Floats:
        """How far off in units of noise."""
        return np.asarray((values - self.middle) / max(self.noise, _NOISE_FLOOR * abs(self.middle), 1e-9))


@dataclass(frozen=True, slots=True)
class Baseline:
    """Of the job as a whole, by the names of `numbers`; what no rank can see is not there."""

    usual: dict[str, Usual]


def numbers(table: Table) -> dict[str, Floats]:
    """The job's numbers step by step."""
    return {
        "step": median(table.step, 1),
        "local": median(table.local, 1),
        "transfer": table.transfer,
        "exposed": median(table.exposed, 1),
        "span": table.span,
        **{part: median(values, 1) for part, values in table.parts.items()},
    }


def learn(table: Table) -> Baseline | None:
    """From healthy steps; None while there are too few."""
    if table.told.sum() < WINDOW:
        return None
    seen = {name: values for name, values in numbers(table.rows(table.told)).items() if not np.isnan(values).all()}
    return Baseline({name: _usual(values) for name, values in seen.items()})


def shift(values: Floats, usual: Usual) -> tuple[float, int] | None:
    """(share by which the newest steps are longer than usual, row from which on), when they are so for good."""
    known = np.where(np.isnan(values), usual.middle, values)
    if known.size < _HELD or not usual.middle > 0:
        return None
    newest = known[-_HELD:]
    if np.quantile(newest, 0.2) <= usual.middle + usual.noise or not _alarmed(usual.far(known)):
        return None
    now = float(np.median(newest))
    return now / usual.middle - 1.0, onset(known > (usual.middle + now) / 2)


def _alarmed(far: Floats) -> bool:
    """Whether the cumulative sum is above its limit in the end. What one step can add is limited: blips do not last."""
    total = 0.0
    for value in np.clip(far, -_MOST, _MOST).tolist():
        total = min(max(0.0, total + value - _SLACK), 2 * _ALARM)
    return total > _ALARM


def _usual(values: Floats) -> Usual:
    known = values[~np.isnan(values)]
    middle = float(np.median(known))
    return Usual(middle, _TO_SIGMA * float(np.median(np.abs(known - middle))))
