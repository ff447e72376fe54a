"""The newest steps of one attempt as tables: a row per step, a column per rank, seconds, NaN where nothing is known."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PARTS = ("data", "forward", "backward", "optimizer", "other")  # what a rank does by itself
ENOUGH = 0.8  # of the ranks must have told of a step, else nobody is compared


@dataclass(frozen=True, slots=True)
class Table:
    """`parts` holds PARTS; `exposed` is the communication that the rank could not hide. All n steps x m ranks.

    `total` is all of the communication, hidden or not, in the steps in which that was measured; None if never.
    """

    steps: Ints
    ranks: Ints
    nodes: Ints  # node rank of each column
    step: Floats
    exposed: Floats
    parts: dict[str, Floats]
    total: Floats | None = None

    @property
    def local(self) -> Floats:
        """Time without communication: what a rank needs for its own work."""
        return self.step - np.nan_to_num(self.exposed)

    @property
    def told(self) -> Bools:
        """Steps of which enough ranks have told."""
        return np.asarray(np.mean(~np.isnan(self.step), axis=1) >= ENOUGH) if self.ranks.size else np.zeros(0, bool)

    @property
    def transfer(self) -> Floats:
        """Per step: the communication of the rank that waits least. NaN where no rank can see it."""
        return _least(self.exposed)

    @property
    def span(self) -> Floats:
        """Per step: all of the communication, by the rank that waits least. NaN where it was not measured."""
        return np.full(self.steps.size, np.nan) if self.total is None else _least(self.total)

    def rows(self, chosen: Bools | slice) -> "Table":
        """Some of the steps."""
        return Table(
            self.steps[chosen],
            self.ranks,
            self.nodes,
            self.step[chosen],
            self.exposed[chosen],
            {name: values[chosen] for name, values in self.parts.items()},
            None if self.total is None else self.total[chosen],
        )

    def newest(self, count: int) -> "Table":
        """The last steps."""
        return self.rows(slice(max(0, self.steps.size - count), None))


def _least(values: Floats) -> Floats:
    filled = np.where(np.isnan(values), np.inf, values)
    least = filled.min(axis=1, initial=np.inf)
    return np.asarray(np.where(np.isinf(least), np.nan, least))
