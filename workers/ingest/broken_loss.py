"""Since which step the loss is no number any more. Pure."""

import math

import numpy as np

from webapp.telemetry.blocks import Floats, Ints


class BrokenLoss:
    """Fed with the loss as it comes; `since` is the first step after the last finite one, None while it is in order."""

    def __init__(self) -> None:
        self.since: int | None = None
        self._good = -math.inf

    def add(self, steps: Ints, values: Floats) -> None:
        """More points, in any order."""
        finite = np.isfinite(values)
        if finite.any():
            self._good = max(self._good, float(steps[finite].max()))
        broken = np.flatnonzero(~finite & (steps > self._good))
        if self.since is not None and self.since < self._good:
            self.since = None
        if not broken.size:
            return
        first = int(steps[broken].min())
        self.since = first if self.since is None else min(self.since, first)
