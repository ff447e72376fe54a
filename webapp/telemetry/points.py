"""A wire batch as columns of points per metric: checked once, so that nothing bad is stored."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from trainer_agent.wire.messages import METRIC_OF_PHASE, Batch, SampleColumns, StepColumns, ValueColumns
from trainer_agent.wire.record import MISSING_US
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.units import is_of_nodes

NAME_LIMIT = 500
STEP_END = "step/end"
COMM_BYTES = "comm/bytes"
STEP = "phase/step"
EXPOSED = "phase/exposed_comm"
COMM_TOTAL = "comm/total"
LOCAL = "local/step"
TRANSFER = "comm/transfer"
WAIT = "comm/wait"
BUSBW = "comm/busbw"
BUILT_IN = frozenset({*METRIC_OF_PHASE.values(), STEP_END, COMM_BYTES, LOCAL, TRANSFER, WAIT, BUSBW})
_RANK_LIMIT = 1 << 20
_INDEX_LIMIT = 1 << 52


class BadContent(ValueError):
    """A message of the right form whose columns cannot be stored; it is parked."""


@dataclass(frozen=True, slots=True)
class Points:
    """Points of one metric, in the order in which they were made. Index: step, or whole epoch seconds. No gaps."""

    name: str
    axis: str  # step | time
    columns: str  # rank | node
    dtype: str  # us | f8
    rank: Ints
    index: Ints
    value: Floats


def explode(batch: Batch) -> list[Points]:
    """All points of a batch, or BadContent."""
    found: list[Points] = []
    for steps in batch.steps:
        found += _steps(steps)
    found += [_values(values) for values in batch.values]
    found += [_samples(samples) for samples in batch.samples]
    return [points for points in found if points.index.size]


def joined(parts: Iterable[Points]) -> dict[str, Points]:
    """Points of many batches, one per metric name, order kept."""
    by_name: dict[str, list[Points]] = {}
    for part in parts:
        same = by_name.setdefault(part.name, [])
        if not same or same[0].axis == part.axis:
            same.append(part)
    return {name: _concatenated(same) for name, same in by_name.items()}


def stored_name(key: str) -> str:
    """The name under which a user's key is kept: its own, unless it is too long or one of ours."""
    name = key.replace("\x00", "␀")
    if name in BUILT_IN:
        return f"user/{name}"
    if len(name) <= NAME_LIMIT:
        return name
    return f"{name[: NAME_LIMIT - 18]}…{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _concatenated(same: list[Points]) -> Points:
    first = same[0]
    if len(same) == 1:
        return first
    return Points(
        first.name,
        first.axis,
        first.columns,
        first.dtype,
        np.concatenate([p.rank for p in same]),
        np.concatenate([p.index for p in same]),
        np.concatenate([p.value for p in same]),
    )


def _steps(columns: StepColumns) -> Iterator[Points]:
    rank = _ranks(columns.rank, columns.n)
    index = _index(_column(columns.step, "<i8", columns.n, "step"))
    seconds = {}
    for phase, data in columns.columns.items():
        if phase not in METRIC_OF_PHASE.values():
            continue
        micro = _column(data, "<u4", columns.n, phase)
        seconds[phase] = np.where(micro == MISSING_US, np.nan, micro / 1e6)
    for name, value in seconds.items():
        yield _present(name, "us", rank, index, value)
    if STEP in seconds and EXPOSED in seconds:
        own = np.rint((seconds[STEP] - seconds[EXPOSED]) * 1e6) / 1e6
        yield _present(LOCAL, "us", rank, index, np.where(own < 0, 0.0, own))
    yield _present(STEP_END, "f8", rank, index, _column(columns.end, "<f8", columns.n, "end"))
    if columns.nbytes:
        yield _present(COMM_BYTES, "f8", rank, index, _column(columns.nbytes, "<f8", columns.n, "nbytes"))


def _present(name: str, dtype: str, rank: Ints, index: Ints, value: Floats) -> Points:
    seen = ~np.isnan(value)
    return Points(name, "step", "rank", dtype, rank[seen], index[seen], value[seen])


def _values(values: ValueColumns) -> Points:
    value = _column(values.value, "<f8", values.n, values.key)
    index = _index(_column(values.step, "<i8", values.n, "step"))
    return Points(stored_name(values.key), "step", "rank", "f8", _ranks(values.rank, values.n), index, value)


def _samples(samples: SampleColumns) -> Points:
    value = _column(samples.value, "<f8", samples.n, samples.metric)
    time = _column(samples.time, "<f8", samples.n, "time")
    if not np.all(np.isfinite(time)):
        raise BadContent("a sample without a time")
    kind = "node" if is_of_nodes(samples.metric) else "rank"
    rank = _ranks(samples.rank, samples.n)
    keep = ~np.isnan(value)
    index = _index(np.floor(time).astype(np.int64))
    return Points(stored_name(samples.metric), "time", kind, "f8", rank[keep], index[keep], value[keep])


def _ranks(data: bytes, n: int) -> Ints:
    rank = _column(data, "<u4", n, "rank").astype(np.int64)
    if n and int(rank.max()) >= _RANK_LIMIT:
        raise BadContent("a rank out of range")
    return rank


def _index(index: Ints) -> Ints:
    if index.size and (int(index.min()) < -_INDEX_LIMIT or int(index.max()) > _INDEX_LIMIT):
        raise BadContent("a step or time out of range")
    return index


def _column(data: bytes, dtype: str, n: int, what: str) -> np.ndarray:
    if n < 0 or len(data) != n * np.dtype(dtype).itemsize:
        raise BadContent(f"column {what[:80]!r} has {len(data)} bytes for {n} points")
    return np.frombuffer(data, dtype)
