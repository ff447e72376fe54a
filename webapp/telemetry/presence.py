"""Which steps of which rank are stored. Roll-ups keep how many they hold, so only what is incomplete is read closer."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from webapp.telemetry.blocks import Block, Ints
from webapp.telemetry.merge import stride
from webapp.telemetry.points import STEP
from webapp.telemetry.read import Reader
from webapp.telemetry.view import View

Span = tuple[int, int]  # first and last step, as stored
_NEAR = 8  # incomplete rows that lie so near to each other are read together
_MOST_READS = 64


@dataclass(frozen=True, slots=True)
class Stored:
    """Of one rank: how many steps, the last of them (-1: none), and what is missing before the last step of any rank.

    A span of `missing` that reaches to the end lies behind the rank's own last step.
    """

    count: int
    last: int
    missing: list[Span]


def stored_steps(reader: Reader, ranks: Iterable[int], lo: int = 0, hi: int | None = None) -> dict[int, Stored]:
    """`reader` with first step 0. Steps lo … hi (None: the last that any rank has) of each of the ranks."""
    view = reader.view(STEP)
    end = view.last if hi is None else min(hi, view.last)
    wanted = list(ranks)
    if end < lo:
        return {rank: Stored(0, -1, []) for rank in wanted}
    found = _Missing(view, np.array(wanted, np.int64), end)
    found.look(max(view.levels), lo, end)
    return {rank: _stored(found.spans[k], lo, end) for k, rank in enumerate(wanted)}


class _Missing:
    """Collects what is missing, from coarse to fine. `spans[k]`: of the k-th rank, ascending, neighbours joined."""

    def __init__(self, view: View, ranks: Ints, end: int) -> None:
        self.view, self.ranks, self.end = view, ranks, end
        self.spans: list[list[Span]] = [[] for _ in ranks]

    def look(self, level: int, lo: int, hi: int) -> None:
        """What is missing in lo … hi, which are edges of rows of this level, or of all."""
        step = stride(level)
        starts = np.arange(lo // step * step, hi + 1, step)
        first, last = np.maximum(starts, lo), np.minimum(starts + step - 1, hi)
        counts = self._counts(self.view.within(lo, hi).at(level), starts, level)
        gone, partly = counts == 0, (counts > 0) & (counts < (last - first + 1)[:, None])
        if level:  # a row that reaches out of the window may hold steps outside of it
            partly |= (counts > 0) & ((starts < lo) | ((starts + step - 1 > hi) & (hi < self.view.last)))[:, None]
        closer = _together(np.flatnonzero(partly.any(axis=1)))
        if len(closer) > _MOST_READS:
            return self.look(level - 1, lo, hi)
        at = 0
        for begin, end in closer:
            self._add(gone[at:begin], first[at:begin], last[at:begin])
            self.look(level - 1, int(first[begin]), int(last[end]))
            at = end + 1
        return self._add(gone[at:], first[at:], last[at:])

    def _counts(self, block: Block, starts: Ints, level: int) -> Ints:
        counts = np.zeros((starts.size, self.ranks.size), np.int64)
        here = np.flatnonzero(np.isin(self.ranks, block.columns))
        if block.index.size and here.size:
            columns = np.searchsorted(block.columns, self.ranks[here])
            held = block.present if block.rolled is None else np.where(block.present, block.rolled.counts, 0)
            counts[np.ix_((block.index - starts[0]) // stride(level), here)] = held[:, columns]
        return counts

    def _add(self, gone: np.ndarray, first: Ints, last: Ints) -> None:
        for k in np.flatnonzero(gone.any(axis=0)):
            for begin, end in _runs(np.flatnonzero(gone[:, k])):
                self._append(self.spans[k], int(first[begin]), int(last[end]))

    @staticmethod
    def _append(spans: list[Span], first: int, last: int) -> None:
        if spans and spans[-1][1] == first - 1:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))


def _stored(missing: list[Span], lo: int, end: int) -> Stored:
    behind = missing[-1] if missing and missing[-1][1] == end else None
    count = end - lo + 1 - sum(last - first + 1 for first, last in missing)
    return Stored(count, (behind[0] - 1 if behind else end) if count else -1, missing)


def _together(rows: Ints) -> list[Span]:
    """Rows that are near to each other, as (first, last)."""
    return _runs(rows, _NEAR)


def _runs(rows: Ints, near: int = 1) -> list[Span]:
    if not rows.size:
        return []
    cuts = np.flatnonzero(np.diff(rows) > near)
    firsts, lasts = rows[np.concatenate([[0], cuts + 1])], rows[np.concatenate([cuts, [rows.size - 1]])]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
