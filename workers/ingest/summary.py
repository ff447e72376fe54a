"""The numbers of an attempt's list row: last step, pace, loss and its sparkline. Kept up by every stored point."""

import math
from typing import Any

import numpy as np

from webapp.runs.models import Attempt
from webapp.telemetry.blocks import Block
from webapp.telemetry.findings import nonfinite
from webapp.telemetry.loss import loss_key
from webapp.telemetry.points import BUILT_IN, STEP, Points
from webapp.telemetry.read import Reader
from workers.ingest.broken_loss import BrokenLoss

_SPARK = 40
_PACE_STEPS = 50
_FIGURES = 5


class Summary:
    """Rebuilt from the database at the start; then only adds."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.last_step: int | None = None  # as stored
        self.loss = ""
        self.broken = BrokenLoss()
        self._losses: dict[int, float] = {}
        self._loss_rank: int | None = None  # the lowest that logs it; another's word would not fit to its line
        self._names: set[str] = set()
        self._probed = False  # the probe counts the steps; else what the script logs does

    def fill(self) -> None:
        """What the database has."""
        reader = Reader(self.attempt, first_step=0)
        rows = reader.metrics()
        self._names = {row.name for row in rows if row.axis == "step" and row.name not in BUILT_IN}
        self._probed = any(row.name == STEP for row in rows)
        counted = [row.last_index for row in rows if row.name == STEP or (not self._probed and row.name in self._names)]
        self.last_step = max((last for last in counted if last is not None), default=None)
        self._choose(reader)

    def add(self, points: list[Points]) -> None:
        """Points that were stored."""
        known = len(self._names)
        for part in points:
            if part.axis != "step":
                continue
            if part.name == STEP and not self._probed:
                self._probed, self.last_step = True, None  # what it logged until now is counted otherwise
            if part.name == STEP or (not self._probed and part.name not in BUILT_IN):
                last = int(part.index.max())
                self.last_step = last if self.last_step is None else max(self.last_step, last)
            if part.name not in BUILT_IN:
                self._names.add(part.name)
            if part.name == self.loss:
                self._add_losses(part)
        if len(self._names) != known:
            self._choose(Reader(self.attempt))

    def fields(self, ends: Block | None) -> dict[str, Any]:
        """Arguments for `lifecycle.note_data`. `ends`: recent `step/end`."""
        last = self._losses[max(self._losses)] if self._losses else None
        number = last is not None and math.isfinite(last)
        return {
            "last_step": self._own_step(),
            "total_steps": None,
            "steps_per_s": pace(ends),
            "last_loss": last if number else None,
            "loss_text": "" if number or last is None else nonfinite(last),
            "loss_since": self.broken.since,
            "spark": self._spark() if self._losses else None,
        }

    def _own_step(self) -> int | None:
        """The last step by the script's own count; what it logs is counted so already."""
        if self.last_step is None or not self._probed:
            return self.last_step
        return self.last_step + self.attempt.first_step

    def _choose(self, reader: Reader) -> None:
        chosen = loss_key(self._names)
        if chosen == self.loss:
            return
        self.loss = chosen
        found = reader.series(chosen, max_rows=2 * _SPARK)
        row = found.present.argmax(axis=1)  # the lowest rank that logged it
        at = np.arange(found.index.size)
        self.broken = BrokenLoss()
        fine = found.index[~found.bad.any(axis=1)]
        raw = reader.series(chosen, lo=int(fine[-1]) if fine.size else None)
        self.broken.add(raw.index, raw.values[np.arange(raw.index.size), raw.present.argmax(axis=1)])
        self._losses = dict(zip(found.index.tolist(), found.values[at, row].tolist(), strict=True))
        self._loss_rank = min(found.columns, default=None)

    def _add_losses(self, part: Points) -> None:
        lowest = int(part.rank.min())
        if self._loss_rank is not None and lowest > self._loss_rank:
            return
        self._loss_rank = lowest
        first = part.rank == lowest
        self.broken.add(part.index[first], part.value[first])
        self._losses |= zip(part.index[first].tolist(), part.value[first].tolist(), strict=True)
        while len(self._losses) > 4 * _SPARK:
            steps = sorted(self._losses)
            self._losses = {step: self._losses[step] for step in {*steps[::2], steps[-1]}}

    def _spark(self) -> list[float | None]:
        steps = sorted(self._losses)
        picked = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), _SPARK)).round().astype(int))
        values = [self._losses[steps[k]] for k in picked]
        return [float(f"{value:.{_FIGURES}g}") if math.isfinite(value) else None for value in values]


def pace(ends: Block | None) -> float | None:
    """Steps per second of the newest steps, by one rank's own clock."""
    if ends is None or not ends.columns.size:
        return None
    column = int(ends.present[-1].argmax())
    rows = np.flatnonzero(ends.present[:, column])[-_PACE_STEPS:]
    if rows.size < 2:
        return None
    took = float(ends.values[rows[-1], column] - ends.values[rows[0], column])
    steps = int(ends.index[rows[-1]] - ends.index[rows[0]])
    return round(steps / took, 4) if took > 0 else None
