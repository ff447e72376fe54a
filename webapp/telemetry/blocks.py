"""The block codec: many steps x all ranks of one metric as bytes, byte-shuffled and compressed with zstd level 1.

Bytes of a block: an 8-byte head (version, kind of value, flags, level kind, number of columns), the number of rows,
then one zstd frame with the sections index (differences, int64), columns (uint32), presence (bits, only when a cell
is missing) and values, column by column. A NaN value is a value; a missing cell is marked apart from it.

Values of a roll-up are means, those of timers kept as sums of whole microseconds. It has more sections: least,
greatest, and how many points each cell has with marks for bad ones; where all ranks of a row have as many and none is
bad, as nearly always, one number a row (level kind 2 instead of 1).
"""

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer_agent.wire.codec import zstd

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_HEAD = struct.Struct("<BBBBII")  # version, value kind, has gaps, rolled up, columns, rows
_VERSION = 1
_US, _F4, _F8 = 0, 1, 2
_RAW, _ROLLED, _EVEN = 0, 1, 2
_WIDTH: dict[int, np.dtype[np.generic]] = {_US: np.dtype("<u4"), _F4: np.dtype("<f4"), _F8: np.dtype("<f8")}
_MICRO = 1e6
_NEARLY = 1e-3  # of a microsecond: far above what a product of floats can be off


@dataclass(frozen=True, slots=True)
class Rolled:
    """What a rolled-up cell keeps beside its mean, each [rows, columns]."""

    mins: Floats  # NaN when the cell holds nothing but NaN
    maxs: Floats
    counts: Ints  # finite points in the cell
    bad: Bools  # a NaN or an infinity was among them


@dataclass(frozen=True, slots=True)
class Block:
    """`values[row, column]` at `index[row]` for `columns[column]`, both ascending and unique.

    At level 0 `rolled` is None and values are raw; above it values are means of the finite points (NaN if none).
    Where `present` is False the value is 0 and means nothing.
    """

    index: Ints
    columns: Ints
    values: Floats
    present: Bools
    rolled: Rolled | None = None

    @property
    def points(self) -> int:
        """Cells that hold a value."""
        return int(np.count_nonzero(self.present))


def empty(rolled: bool = False) -> Block:
    """A block without rows."""
    none = np.zeros((0, 0))
    gone = np.zeros((0, 0), dtype=bool)
    more = Rolled(none, none, np.zeros((0, 0), dtype=np.int64), gone) if rolled else None
    return Block(np.zeros(0, np.int64), np.zeros(0, np.int64), none, gone, more)


def encode(block: Block, dtype: str) -> bytes:
    """Block to bytes. `dtype` "us": seconds kept as whole microseconds; else float32 where lossless, or float64."""
    rows, columns = block.values.shape
    gaps = not bool(block.present.all())
    shown = _without_gaps(block) if gaps else block
    sections = [_shuffle(np.diff(block.index, prepend=0)), _shuffle(block.columns.astype("<u4"))]
    if gaps:
        sections.append(np.packbits(block.present.T).tobytes())
    level = _RAW
    if shown.rolled is None:
        kind, values = _pack(shown.values, dtype)
        sections.append(_shuffle(values))
    else:
        kind, values = _sums(shown.values, shown.rolled.counts, dtype)
        level, more = _rolled_sections(shown.rolled, shown.present, dtype)
        sections += [_shuffle(values), *more]
    head = _HEAD.pack(_VERSION, kind, gaps, level, columns, rows)
    return head + zstd.compressor.compress(b"".join(sections))


def decode(data: bytes | memoryview) -> Block:
    """Bytes to block; ValueError when they are no block."""
    version, kind, gaps, level, columns, rows = _HEAD.unpack_from(data)
    if version != _VERSION:
        raise ValueError(f"block version {version}")
    body = _Reader(zstd.decompressor.decompress(memoryview(data)[_HEAD.size :]))
    index = np.cumsum(body.take(np.dtype("<i8"), rows))
    names = body.take(np.dtype("<u4"), columns).astype(np.int64)
    shape = (columns, rows)
    present = body.bits(shape) if gaps else np.ones((rows, columns), dtype=bool)
    values = body.values(kind, shape)
    more = None
    if level:
        mins, maxs = body.values(body.byte(), shape), body.values(body.byte(), shape)
        more = Rolled(mins, maxs, *(body.even(present, gaps) if level == _EVEN else body.uneven(shape)))
        if kind == _US:
            values = values / np.maximum(more.counts, 1)
    return Block(index, names, values, present, more)


def _without_gaps(block: Block) -> Block:
    """With 0 where a cell is missing."""
    here, more = block.present, block.rolled
    if more is not None:
        more = Rolled(np.where(here, more.mins, 0.0), np.where(here, more.maxs, 0.0), more.counts, more.bad)
    return Block(block.index, block.columns, np.where(here, block.values, 0.0), here, more)


def _rolled_sections(rolled: Rolled, present: Bools, dtype: str) -> tuple[int, list[bytes]]:
    """The kind of level, and what follows the means."""
    sections = []
    for extreme in (rolled.mins, rolled.maxs):
        kind, values = _pack(extreme, dtype)
        sections += [bytes([kind]), _shuffle(values)]
    of_row = rolled.counts.max(axis=1, initial=0)
    if not rolled.bad.any() and bool((rolled.counts == np.where(present, of_row[:, None], 0)).all()):
        return _EVEN, [*sections, _shuffle(of_row.astype("<u4"))]
    counts = np.ascontiguousarray(rolled.counts.T).astype("<u4")
    return _ROLLED, [*sections, _shuffle(counts), np.packbits(rolled.bad.T).tobytes()]


def _sums(means: Floats, counts: Ints, dtype: str) -> tuple[int, NDArray[np.generic]]:
    """As `_pack`, but the sums where they are whole microseconds, as those of timers are."""
    if dtype == "us" and (sums := _whole(means * counts * _MICRO)) is not None:
        return _US, sums.T
    return _pack(means, "f8")


def _whole(sums: Floats) -> NDArray[np.uint32] | None:
    near = np.rint(sums)
    if near.size and not (near.min() >= 0 and near.max() <= 0xFFFFFFFF):  # false for NaN too
        return None
    sums -= near
    return near.astype("<u4") if bool((np.abs(sums, out=sums) < _NEARLY).all()) else None


def _pack(values: Floats, dtype: str) -> tuple[int, NDArray[np.generic]]:
    """The kind, and the values column by column, as narrow as they come back from exactly."""
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype == "us" and (micro := _as_micro(values)) is not None:
            return _US, micro.T
        narrow = values.astype("<f4")
    if bool((narrow.astype(np.float64).view(np.int64) == np.ascontiguousarray(values).view(np.int64)).all()):
        return _F4, narrow.T
    return _F8, values.astype("<f8").T


def _as_micro(values: Floats) -> NDArray[np.uint32] | None:
    micro = values * _MICRO
    np.rint(micro, out=micro)
    if micro.size and not (micro.min() >= 0 and micro.max() <= 0xFFFFFFFF):  # false for NaN too
        return None
    narrow = micro.astype("<u4")
    micro /= _MICRO
    return narrow if bool((micro == values).all()) else None


def _shuffle(values: NDArray[np.generic]) -> bytes:
    """First bytes of all values, then second bytes, …: equal exponents lie together and compress."""
    raw = np.ascontiguousarray(values).reshape(-1)
    return raw.view(np.uint8).reshape(-1, raw.dtype.itemsize).T.tobytes()


class _Reader:
    def __init__(self, body: bytes) -> None:
        self.body = body
        self.at = 0

    def byte(self) -> int:
        self.at += 1
        return self.body[self.at - 1]

    def take(self, dtype: np.dtype[np.generic], count: int) -> NDArray[np.generic]:
        size = dtype.itemsize * count
        raw = np.frombuffer(self.body, np.uint8, size, self.at).reshape(dtype.itemsize, count)
        self.at += size
        values = np.empty((count, dtype.itemsize), np.uint8)
        for k in range(dtype.itemsize):  # several times faster than to turn the table
            values[:, k] = raw[k]
        return values.reshape(-1).view(dtype)

    def bits(self, shape: tuple[int, int]) -> Bools:
        count = shape[0] * shape[1]
        raw = np.frombuffer(self.body, np.uint8, (count + 7) // 8, self.at)
        self.at += raw.size
        return np.unpackbits(raw, count=count).reshape(shape).T.astype(bool)

    def even(self, present: Bools, gaps: bool) -> tuple[Ints, Bools]:
        """Counts and bad ones where all ranks of a row have as many points."""
        of_row = self.take(np.dtype("<u4"), present.shape[0]).astype(np.int64)[:, None]
        counts = np.where(present, of_row, 0) if gaps else np.broadcast_to(of_row, present.shape)
        return counts, np.broadcast_to(np.False_, present.shape)

    def uneven(self, shape: tuple[int, int]) -> tuple[Ints, Bools]:
        """Counts and bad ones of each cell."""
        counts = self.take(np.dtype("<u4"), shape[0] * shape[1]).reshape(shape).T.astype(np.int64)
        return counts, self.bits(shape)

    def values(self, kind: int, shape: tuple[int, int]) -> Floats:
        flat = self.take(_WIDTH[kind], shape[0] * shape[1]).reshape(shape).T
        return np.divide(flat, _MICRO, dtype=np.float64) if kind == _US else flat.astype(np.float64)
