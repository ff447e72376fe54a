"""The stored steps of an attempt as the few rows of each slot that `slot_split.py` splits."""

from collections.abc import Iterator
from heapq import merge
from itertools import groupby
from operator import itemgetter

import numpy as np

from webapp.runs.models import Attempt
from webapp.telemetry.blocks import Block, Floats, Ints, empty
from webapp.telemetry.merge import span, stride
from webapp.telemetry.points import STEP, STEP_END, WAIT
from webapp.telemetry.read import Reader
from webapp.telemetry.slot_split import STALL_S, Steps

_ROWS = 1_500


def pieces_of(attempt: Attempt, until: int | None) -> list[Steps]:
    """Of all slots, by their nodes' clocks, one after the other; the first is without rows.

    `until`: from which step on, as stored, a later attempt did the work again.
    """
    ranks = np.arange(attempt.world_size)
    none = np.zeros((ranks.size, 0))
    return [Steps(np.full(ranks.size, np.nan), none, none, none, none, np.zeros(0)), *_stored(attempt, ranks, until)]


def _stored(attempt: Attempt, ranks: Ints, until: int | None) -> Iterator[Steps]:
    reader = Reader(attempt, first_step=0)
    view = reader.view(STEP_END)
    level = view.level_for(_ROWS)
    opening = _opening(reader, view.first, ranks)
    of_all = {STEP_END: view.pieces(level), WAIT: reader.view(WAIT).pieces(level), STEP: _long_ones(reader, level)}
    for found in _side_by_side(of_all, level):
        if STEP_END not in found:
            continue
        ends, length, wait = (found.get(name, empty()) for name in (STEP_END, STEP, WAIT))
        cells = _Cells(ranks, ends.index)
        counts = cells.of(ends, _counts(ends))
        yield Steps(
            begin=_first(counts, cells.of(ends, _least(ends))) - opening,
            ends=cells.of(ends, _greatest(ends)),
            counts=counts,
            waits=cells.of(wait, wait.values * _counts(wait)),
            longest=cells.of(length, _greatest(length)),
            again=_share_again(ends.index, stride(level), until),
        )


def _side_by_side(pieces: dict[str, Iterator[Block]], level: int) -> Iterator[dict[str, Block]]:
    """Those of several metrics that lie at the same place, one place after the other."""

    def placed(name: str) -> Iterator[tuple[int, str, Block]]:
        return ((int(block.index[0]) // span(level), name, block) for block in pieces[name] if block.index.size)

    ordered = merge(*map(placed, pieces), key=itemgetter(0))
    return ({name: block for _place, name, block in same} for _place, same in groupby(ordered, itemgetter(0)))


class _Cells:
    """[slots, rows] for these ranks and indexes, with the values of blocks in it, 0 where they have none."""

    def __init__(self, ranks: Ints, index: Ints) -> None:
        self.ranks, self.index = ranks, index

    def of(self, block: Block, values: np.ndarray) -> Floats:
        if not block.index.size:
            return np.broadcast_to(0.0, (self.ranks.size, self.index.size))
        shown: np.ndarray = values if bool(block.present.all()) else np.where(block.present, values, 0.0)
        if np.array_equal(block.index, self.index) and np.array_equal(block.columns, self.ranks):
            return shown.T
        _index, row, at = np.intersect1d(self.index, block.index, assume_unique=True, return_indices=True)
        _ranks, slot, column = np.intersect1d(self.ranks, block.columns, assume_unique=True, return_indices=True)
        found = np.zeros((self.ranks.size, self.index.size))
        found[np.ix_(slot, row)] = shown[np.ix_(at, column)].T
        return found


def _long_ones(reader: Reader, level: int) -> Iterator[Block]:
    """The lengths of steps, from the first to the last that are so long that they may count as stalled: `split` asks
    for no others, and few jobs have any. The level above tells where they are.
    """
    view = reader.view(STEP)
    above = view.at(level + 1)
    rows = above.index[(_greatest(above) > STALL_S).any(axis=1)]
    return view.within(int(rows[0]), int(rows[-1]) + stride(level + 1) - 1).pieces(level) if rows.size else iter(())


def _counts(block: Block) -> Ints:
    return block.present.astype(np.int64) if block.rolled is None else block.rolled.counts


def _least(block: Block) -> Floats:
    return block.values if block.rolled is None else block.rolled.mins


def _greatest(block: Block) -> Floats:
    return block.values if block.rolled is None else block.rolled.maxs


def _first(counts: Floats, values: Floats) -> Floats:
    """Of each slot the first row that has steps, NaN where none has."""
    there = counts > 0
    return np.where(there.any(axis=1), values[np.arange(values.shape[0]), there.argmax(axis=1)], np.nan)


def _opening(reader: Reader, first: int, ranks: Ints) -> Floats:
    """How long each rank's first step took."""
    block = reader.view(STEP, first, first).at(0)
    return np.asarray(np.nan_to_num(_Cells(ranks, block.index).of(block, block.values)).sum(axis=1))


def _share_again(index: Ints, step: int, until: int | None) -> Floats:
    """How much of each row lies at or behind `until`."""
    if until is None:
        return np.zeros(index.size)
    return np.clip((index + step - until) / step, 0.0, 1.0)
