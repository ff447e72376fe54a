"""Notices in steps as they are stored that a rank falls behind: then the watch is asked for a look at once.

Its rounds find the same without this, only later. Nothing is judged here, so a word too many costs a look.
"""

import time
from collections.abc import Sequence

import numpy as np

from webapp.runs.models import Attempt
from webapp.telemetry.points import EXPOSED, STEP
from workers.detect.evidence import NOW
from workers.detect.excess import excess
from workers.detect.straggler import enough_to_name, seems_late
from workers.detect.table import PARTS, Table
from workers.ingest.window import Window
from workers.recent import WINDOW, first_judged, like

EVERY_S = 0.1
AGAIN_S = 1.0  # after a word to the watch; a rank may be late in every other step
_SHARE = 40  # of many ranks a look takes longer and comes more seldom: a fortieth of the time


class Behind:
    """The newest steps of one attempt, and the ranks of which the watch was told."""

    def __init__(self, attempt: Attempt, window: Window) -> None:
        self.attempt, self.window = attempt, window
        self._told: set[int] = set()
        self._seen = (-1, 0)  # newest step, and how much of the newest steps had come
        self._next = 0.0

    def is_news(self, now: float) -> bool:
        """Whether a rank is late by now that was not at the last look. `now`: monotonic seconds."""
        block = self.window.blocks.get(STEP)
        if now < self._next or block is None:
            return False
        seen = int(block.index[-1]), int(block.present[-NOW:].sum())
        if seen == self._seen:
            return False
        began, self._seen = time.monotonic(), seen
        late = self._late()
        is_news, self._told = bool(late - self._told), late
        self._next = now + max(AGAIN_S if is_news else EVERY_S, _SHARE * (time.monotonic() - began))
        return is_news

    def _late(self) -> set[int]:
        if not seems_late(self._table()):
            return set()
        table = self._table(PARTS)
        return set(table.ranks[enough_to_name(excess(table))].tolist())

    def _table(self, names: Sequence[str] = ()) -> Table:
        step = self.window.series(STEP, WINDOW)
        ranks = np.array(step.columns, dtype=np.int64)
        exposed = like(step, self.window.series(EXPOSED, WINDOW))
        parts = {name: like(step, self.window.series(f"phase/{name}", WINDOW)) for name in names}
        whole = Table(step.index, ranks, np.zeros_like(ranks), step.values, exposed, parts)
        return whole.rows(whole.told & (step.index >= first_judged(self.attempt)))
