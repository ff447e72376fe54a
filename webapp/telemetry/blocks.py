"""The block codec: many steps x all ranks of one metric as bytes, byte-shuffled and compressed with zstd level 1.

Bytes of a block: an 8-byte head (version, kind of value, flags, level kind, number of columns), the number of rows,
then one zstd frame with the sections index (differences, int64), columns (uint32), presence (bits, only when a cell
is missing) and values, column by column. A NaN value is a value; a missing cell is marked apart from it.
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
_WIDTH: dict[int, np.dtype[np.generic]] = {_US: np.dtype("<u4"), _F4: np.dtype("<f4"), _F8: np.dtype("<f8")}
_MICRO = 1e6


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
        return int(self.present.sum())


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
    kind, values = _pack(shown.values, dtype if block.rolled is None else "f8")
    sections.append(_shuffle(values))
    if shown.rolled is not None:
        sections += _rolled_sections(shown.rolled, dtype)
    head = _HEAD.pack(_VERSION, kind, gaps, block.rolled is not None, columns, rows)
    return head + zstd.compressor.compress(b"".join(sections))


def decode(data: bytes | memoryview) -> Block:
    """Bytes to block; ValueError when they are no block."""
    version, kind, gaps, rolled, columns, rows = _HEAD.unpack_from(data)
    if version != _VERSION:
        raise ValueError(f"block version {version}")
    body = _Reader(zstd.decompressor.decompress(memoryview(data)[_HEAD.size :]))
    index = np.cumsum(body.take(np.dtype("<i8"), rows))
    names = body.take(np.dtype("<u4"), columns).astype(np.int64)
    shape = (columns, rows)
    present = body.bits(shape) if gaps else np.ones((rows, columns), dtype=bool)
    values = body.values(kind, shape)
    more = None
    if rolled:
        mins, maxs = body.values(body.byte(), shape), body.values(body.byte(), shape)
        counts = body.take(np.dtype("<u4"), rows * columns).reshape(shape).T.astype(np.int64)
        more = Rolled(mins, maxs, counts, body.bits(shape))
    return Block(index, names, values, present, more)


def _without_gaps(block: Block) -> Block:
    """With 0 where a cell is missing."""
    here, more = block.present, block.rolled
    if more is not None:
        more = Rolled(np.where(here, more.mins, 0.0), np.where(here, more.maxs, 0.0), more.counts, more.bad)
    return Block(block.index, block.columns, np.where(here, block.values, 0.0), here, more)


def _rolled_sections(rolled: Rolled, dtype: str) -> list[bytes]:
    sections = []
    for extreme in (rolled.mins, rolled.maxs):
        kind, values = _pack(extreme, dtype)
        sections += [bytes([kind]), _shuffle(values)]
    sections.append(_shuffle(np.ascontiguousarray(rolled.counts.T).astype("<u4")))
    sections.append(np.packbits(rolled.bad.T).tobytes())
    return sections


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

    def values(self, kind: int, shape: tuple[int, int]) -> Floats:
        flat = self.take(_WIDTH[kind], shape[0] * shape[1]).reshape(shape).T
        return np.divide(flat, _MICRO, dtype=np.float64) if kind == _US else flat.astype(np.float64)
