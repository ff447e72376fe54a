"""What a read of one metric gives: rows of steps or seconds, columns of ranks or nodes."""

from dataclasses import dataclass

import numpy as np

from webapp.telemetry.blocks import Block, Bools, Floats, Ints
from webapp.telemetry.units import unit_of


@dataclass(frozen=True, slots=True)
class Series:
    """`values[row, column]` at `index[row]` (step, or epoch second) for rank or node `columns[column]`.

    A missing cell is NaN in values and False in `present`; a NaN that was logged is NaN and present. At level 0 mins
    and maxs are the values; above it values are means. `bad`: a NaN or infinity is in the cell. `total`: raw rows in
    the window, of which `index.size` are here. `median_of`: the one column is the median of so many ranks.
    """

    name: str
    unit: str
    axis: str
    index: Ints
    columns: list[int]
    values: Floats
    present: Bools
    mins: Floats
    maxs: Floats
    bad: Bools
    level: int
    total: int
    median_of: int | None = None

    @property
    def ranks(self) -> int:
        """How many ranks or nodes the values are of."""
        return len(self.columns) if self.median_of is None else self.median_of


def series_of(name: str, axis: str, block: Block, level: int, total: int) -> Series:
    """A block as a series."""
    present, rolled = block.present, block.rolled
    whole = bool(present.all())
    values = block.values if whole else np.where(present, block.values, np.nan)
    return Series(
        name=name,
        unit=unit_of(name),
        axis=axis,
        index=block.index,
        columns=block.columns.tolist(),
        values=values,
        present=present,
        mins=values if rolled is None else rolled.mins if whole else np.where(present, rolled.mins, np.nan),
        maxs=values if rolled is None else rolled.maxs if whole else np.where(present, rolled.maxs, np.nan),
        bad=rolled.bad if rolled else _bad(values, present),
        level=level,
        total=total,
    )


def _bad(values: Floats, present: Bools) -> Bools:
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(values.sum()):  # then each of them is: told in a fraction of the time
            return np.broadcast_to(np.False_, values.shape)
    return np.asarray(present & ~np.isfinite(values))
