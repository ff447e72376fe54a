"""Pure acts on blocks: put points in, put rows in the place of others, roll up, cut."""

from typing import Any

import numpy as np

from webapp.telemetry.blocks import Block, Bools, Floats, Ints, Rolled, empty
from webapp.telemetry.points import Points

ROWS = 128  # rows of a full block, at every level
FACTOR = 16  # indexes of one level that make one of the next


def stride(level: int) -> int:
    """Indexes that one row of `level` covers."""
    return int(FACTOR**level)


def span(level: int) -> int:
    """Indexes that one block of `level` covers."""
    return ROWS * stride(level)


def put(block: Block, rank: Ints, index: Ints, value: Floats) -> Block:
    """`block` with the points in it. A cell that is written twice keeps the last value."""
    rows, columns = _union(block.index, index), _union(block.columns, rank)
    values, present = _spread(block, rows, columns)
    at = (np.searchsorted(rows, index), np.searchsorted(columns, rank))
    values[at] = value
    present[at] = True
    return Block(rows, columns, values, present)


def split(points: Points) -> dict[int, Points]:
    """The points by number of their level 0 block, order kept."""
    number = np.floor_divide(points.index, ROWS)
    low = int(number.min())
    if low == int(number.max()):
        return {low: points}
    return {int(b): _where(points, number == b) for b in np.unique(number)}


def roll_up(block: Block, level: int) -> Block:
    """The rows of `level` that the rows of a block of any lower level make."""
    if not block.index.size:
        return empty(rolled=True)
    step = stride(level)
    bucket = np.floor_divide(block.index, step) * step
    rows, first = np.unique(bucket, return_index=True)
    finer = block.rolled or _as_rolled(block)
    counts = np.add.reduceat(np.where(block.present, finer.counts, 0), first, axis=0)
    sums = np.add.reduceat(np.where(finer.counts > 0, np.nan_to_num(block.values), 0.0) * finer.counts, first, axis=0)
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    gone = ~block.present
    return Block(
        rows,
        block.columns,
        np.where(np.logical_or.reduceat(block.present, first, axis=0), means, 0.0),
        np.logical_or.reduceat(block.present, first, axis=0),
        Rolled(
            np.fmin.reduceat(np.where(gone, np.nan, finer.mins), first, axis=0),
            np.fmax.reduceat(np.where(gone, np.nan, finer.maxs), first, axis=0),
            counts,
            np.logical_or.reduceat(finer.bad & block.present, first, axis=0),
        ),
    )


def replaced(block: Block, lo: int, hi: int, by: Block) -> Block:
    """`block` whose rows in [lo, hi) are those of `by`."""
    if not block.index.size:
        return by
    return joined([cut(block, None, lo), by, cut(block, hi, None)])


def joined(parts: list[Block]) -> Block:
    """Blocks of one level whose indexes ascend from each to the next, as one."""
    parts = [part for part in parts if part.index.size]
    if not parts:
        return empty()
    if len(parts) == 1:
        return parts[0]
    columns = parts[0].columns
    for part in parts[1:]:
        columns = _union(columns, part.columns)
    wide = [_widened(part, columns) for part in parts]
    rolled = [part.rolled for part in wide if part.rolled is not None]
    return Block(
        np.concatenate([part.index for part in wide]),
        columns,
        np.concatenate([part.values for part in wide]),
        np.concatenate([part.present for part in wide]),
        Rolled(
            np.concatenate([r.mins for r in rolled]),
            np.concatenate([r.maxs for r in rolled]),
            np.concatenate([r.counts for r in rolled]),
            np.concatenate([r.bad for r in rolled]),
        )
        if rolled
        else None,
    )


def cut(block: Block, lo: int | None, hi: int | None) -> Block:
    """The rows with lo <= index < hi."""
    start = 0 if lo is None else int(np.searchsorted(block.index, lo))
    end = block.index.size if hi is None else int(np.searchsorted(block.index, hi))
    return rows_of(block, slice(start, max(start, end)))


def rows_of(block: Block, rows: slice | Ints | Bools) -> Block:
    """Some rows of a block, in their order."""
    r = block.rolled
    more = Rolled(r.mins[rows], r.maxs[rows], r.counts[rows], r.bad[rows]) if r else None
    return Block(block.index[rows], block.columns, block.values[rows], block.present[rows], more)


def _as_rolled(block: Block) -> Rolled:
    good = np.isfinite(block.values) & block.present
    return Rolled(block.values, block.values, good.astype(np.int64), block.present & ~good)


def _widened(block: Block, columns: Ints) -> Block:
    if np.array_equal(block.columns, columns):
        return block
    at = np.searchsorted(columns, block.columns)
    shape = (block.index.size, columns.size)
    r = block.rolled
    more = None
    if r is not None:
        nan = np.full(shape, np.nan)
        none = np.zeros(shape, np.int64)
        more = Rolled(_at(nan, at, r.mins), _at(nan, at, r.maxs), _at(none, at, r.counts), _at(none > 0, at, r.bad))
    gone = np.zeros(shape)
    return Block(block.index, columns, _at(gone, at, block.values), _at(gone > 0, at, block.present), more)


def _at(ground: Any, columns: Ints, values: Any) -> Any:
    full = ground.copy()
    full[:, columns] = values
    return full


def _spread(block: Block, rows: Ints, columns: Ints) -> tuple[Floats, Bools]:
    values = np.zeros((rows.size, columns.size))
    present = np.zeros((rows.size, columns.size), dtype=bool)
    if block.index.size:
        at = np.ix_(np.searchsorted(rows, block.index), np.searchsorted(columns, block.columns))
        values[at] = block.values
        present[at] = block.present
    return values, present


def _union(a: Ints, b: Ints) -> Ints:
    return np.union1d(a, b).astype(np.int64)


def _where(points: Points, mask: Bools) -> Points:
    return Points(
        points.name,
        points.axis,
        points.columns,
        points.dtype,
        points.rank[mask],
        points.index[mask],
        points.value[mask],
    )
