"""The block codec: many steps x all ranks of one metric as bytes, byte-shuffled and compressed with zstd level 1.

Bytes of a block: an 8-byte head (version, kind of value, flags, level kind, number of columns), the number of rows,
then one zstd frame with the sections index (differences, int64), columns (uint32), presence (bits, only when a cell
is missing) and values, column by column. A NaN value is a value; a missing cell is marked apart from it.
"""

import struct
from dataclasses import dataclass

import numpy as np
import zstandard
from numpy.typing import NDArray

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
    sections = [_shuffle(np.diff(block.index, prepend=0)), _shuffle(block.columns.astype("<u4"))]
    if gaps:
        sections.append(np.packbits(block.present.T).tobytes())
    kind, values = _pack(block.values, block.present, dtype if block.rolled is None else "f8")
    sections.append(_shuffle(values))
    if block.rolled is not None:
        sections += _rolled_sections(block.rolled, block.present, dtype)
    head = _HEAD.pack(_VERSION, kind, gaps, block.rolled is not None, columns, rows)
    return head + zstandard.ZstdCompressor(level=1).compress(b"".join(sections))


def decode(data: bytes) -> Block:
    """Bytes to block; ValueError when they are no block."""
    version, kind, gaps, rolled, columns, rows = _HEAD.unpack_from(data)
    if version != _VERSION:
        raise ValueError(f"block version {version}")
    body = _Reader(zstandard.ZstdDecompressor().decompress(data[_HEAD.size :]))
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


def _rolled_sections(rolled: Rolled, present: Bools, dtype: str) -> list[bytes]:
    sections = []
    for extreme in (rolled.mins, rolled.maxs):
        kind, values = _pack(extreme, present, dtype)
        sections += [bytes([kind]), _shuffle(values)]
    sections.append(_shuffle(np.ascontiguousarray(rolled.counts.T).astype("<u4")))
    sections.append(np.packbits(rolled.bad.T).tobytes())
    return sections


def _pack(values: Floats, present: Bools, dtype: str) -> tuple[int, NDArray[np.generic]]:
    flat = np.ascontiguousarray(np.where(present, values, 0.0).T)
    if dtype == "us":
        with np.errstate(over="ignore", invalid="ignore"):
            micro = np.rint(flat * _MICRO)
        if bool(np.all((micro >= 0) & (micro <= 0xFFFFFFFF) & (micro / _MICRO == flat))):
            return _US, micro.astype("<u4")
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = flat.astype("<f4")
    if np.array_equal(narrow.astype(np.float64), flat, equal_nan=True):
        return _F4, narrow
    return _F8, flat.astype("<f8")


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
        return np.ascontiguousarray(raw.T).reshape(-1).view(dtype)

    def bits(self, shape: tuple[int, int]) -> Bools:
        count = shape[0] * shape[1]
        raw = np.frombuffer(self.body, np.uint8, (count + 7) // 8, self.at)
        self.at += raw.size
        return np.unpackbits(raw, count=count).reshape(shape).T.astype(bool)

    def values(self, kind: int, shape: tuple[int, int]) -> Floats:
        flat = self.take(_WIDTH[kind], shape[0] * shape[1]).reshape(shape).T.astype(np.float64)
        return flat / _MICRO if kind == _US else flat
