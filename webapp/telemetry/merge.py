"""Pure acts on blocks: put points in, put rows in the place of others, roll up, cut."""

from typing import Any

import numpy as np

from webapp.telemetry.blocks import Block, Bools, Floats, Ints, Rolled, empty

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
    return Layout(rank, index).put(block, value)


class Layout:
    """Where points with these ranks and indexes lie in a block that they fill, found once for all their metrics."""

    def __init__(self, rank: Ints, index: Ints) -> None:
        self.rows, self._row = _places(index)
        self.columns, self._column = _places(rank)
        self._cells = self._row * self.columns.size + self._column
        self._present = np.zeros((self.rows.size, self.columns.size), dtype=bool)
        self._present.reshape(-1)[self._cells] = True
        self.is_whole = bool(self._present.all())

    def block(self, value: Floats) -> Block:
        """The points alone."""
        values = np.zeros(self._present.shape)
        values.reshape(-1)[self._cells] = value
        return Block(self.rows, self.columns, values, self._present)

    def cells_in(self, rows: Ints, columns: Ints, width: int) -> Ints:
        """Where the points lie in a table so wide, whose `rows` and `columns` are the layout's."""
        if together(rows) and columns.size == width:
            return self._cells + int(rows[0]) * width
        return rows[self._row] * width + columns[self._column]

    def put(self, block: Block, value: Floats) -> Block:
        """See the module's `put`."""
        made = self.block(value)
        if not block.index.size:
            return made
        rows, columns = _union(block.index, self.rows), _union(block.columns, self.columns)
        values, present = _spread(block, rows, columns)
        at = np.ix_(np.searchsorted(rows, self.rows), np.searchsorted(columns, self.columns))
        values[at] = np.where(made.present, made.values, values[at])
        present[at] |= made.present
        return Block(rows, columns, values, present)


def together(rows: Ints) -> bool:
    """Whether rows follow each other without a gap."""
    return int(rows[-1]) - int(rows[0]) + 1 == rows.size


def places(index: Ints) -> dict[int, Ints | slice]:
    """Where the indexes of each level 0 block stand."""
    number = np.floor_divide(index, ROWS)
    low, high = int(number.min()), int(number.max())
    if low == high:
        return {low: slice(None)}
    return {int(b): np.flatnonzero(number == b) for b in _places(number)[0]}


def roll_up(block: Block, level: int) -> Block:
    """The rows of `level` that the rows of a block of any lower level make."""
    if not block.index.size:
        return empty(rolled=True)
    step = stride(level)
    whole = block.rolled is None and bool(block.present.all())
    if whole and _fills(block.index, step):
        made = _rolled_from_buckets(block, step)
        if bool(np.isfinite(made.values).all()):  # then all values are
            return made
    plain = whole and bool(np.isfinite(block.values).all())
    bucket = np.floor_divide(block.index, step) * step
    rows, first = np.unique(bucket, return_index=True)
    if plain:
        return _rolled_from_whole(block, rows, first)
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


def _fills(index: Ints, step: int) -> bool:
    """Whether the indexes are whole buckets without a gap."""
    first, last = int(index[0]), int(index[-1])
    return first % step == 0 and index.size % step == 0 and last - first + 1 == index.size


def _rolled_from_buckets(block: Block, step: int) -> Block:
    """As `_rolled_from_whole`, of whole buckets: several times faster."""
    values = block.values.reshape(-1, step, block.columns.size)
    shape = (values.shape[0], block.columns.size)
    counts = np.broadcast_to(np.int64(step), shape)
    rolled = Rolled(values.min(axis=1), values.max(axis=1), counts, np.zeros(shape, dtype=bool))
    with np.errstate(invalid="ignore", over="ignore"):
        means = values.sum(axis=1) / step
    return Block(block.index[::step], block.columns, means, np.ones(shape, dtype=bool), rolled)


def _rolled_from_whole(block: Block, rows: Ints, first: Ints) -> Block:
    """Of raw values of which none is missing and all are numbers."""
    counts = np.diff(first, append=block.index.size)[:, None]
    shape = (rows.size, block.columns.size)
    means = np.add.reduceat(block.values, first, axis=0) / counts
    extremes = (np.minimum.reduceat(block.values, first, axis=0), np.maximum.reduceat(block.values, first, axis=0))
    rolled = Rolled(*extremes, np.broadcast_to(counts, shape), np.zeros(shape, dtype=bool))
    return Block(rows, block.columns, means, np.ones(shape, dtype=bool), rolled)


def replaced(block: Block, by: dict[tuple[int, int], Block]) -> Block:
    """`block` whose rows in each [lo, hi) are those of the other block; the ranges do not overlap."""
    pieces: list[Block] = []
    before: int | None = None
    for (lo, hi), rows in sorted(by.items(), key=lambda item: item[0]):
        pieces += [cut(block, before, lo), rows]
        before = hi
    made = joined([*pieces, cut(block, before, None)])
    return made if made.index.size else block


def joined(parts: list[Block]) -> Block:
    """Blocks of one level whose indexes ascend from each to the next, as one."""
    parts = [part for part in parts if part.index.size]
    if not parts:
        return empty()
    if len(parts) == 1:
        return parts[0]
    columns = parts[0].columns
    for part in parts[1:]:
        columns = columns if np.array_equal(columns, part.columns) else _union(columns, part.columns)
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


def _places(numbers: Ints) -> tuple[Ints, Ints]:
    """The different numbers, ascending, and for each number its place among them."""
    low = int(numbers.min())
    reach = int(numbers.max()) - low + 1
    if reach > 4 * numbers.size + 1024:
        found, at = np.unique(numbers, return_inverse=True)
        return found.astype(np.int64), at
    seen = np.zeros(reach, dtype=bool)
    near = numbers - low
    seen[near] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[near]
