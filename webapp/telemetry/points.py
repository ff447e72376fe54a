"""A wire batch as columns of points per metric: checked once, so that nothing bad is stored."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

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
_PHASES = frozenset(METRIC_OF_PHASE.values())
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
    return explode_all([batch])


def explode_all(batches: Iterable[Batch], only: frozenset[str] | None = None) -> list[Points]:
    """All points of batches, one `Points` per metric where their columns allow it; BadContent if any of them is bad.

    `only`: of these built-in metrics alone.

    What belongs together is put together before it is looked at: the work grows with metrics, not with messages.
    Metrics with the same ranks and steps share their `rank` and `index`.
    """
    steps: list[StepColumns] = []
    values: dict[str, list[ValueColumns]] = {}
    samples: dict[str, list[SampleColumns]] = {}
    for batch in batches:
        steps += batch.steps
        if only is not None:
            continue
        for logged in batch.values:
            values.setdefault(logged.key, []).append(logged)
        for sampled in batch.samples:
            samples.setdefault(sampled.metric, []).append(sampled)
    found: list[Points] = []
    columns = _Columns()
    for (phases, has_bytes), same in groupby(steps, _kind_of):
        alike = list(same)
        _check_steps(alike, phases, has_bytes)
        one = _one_of_steps(alike, [name for name in phases if only is None or name in only])
        found += _steps(one, columns)
    for logs in values.values():
        _check_values(logs)
        found.append(_values(_one_of_values(logs), columns))
    for taken in samples.values():
        _check_samples(taken)
        found.append(_samples(_one_of_samples(taken)))
    return [points for points in found if points.index.size and (only is None or points.name in only)]


def joined(parts: Iterable[Points]) -> dict[str, Points]:
    """Points of many batches, one per metric name, order kept."""
    by_name: dict[str, list[Points]] = {}
    for part in parts:
        same = by_name.setdefault(part.name, [])
        if not same or same[0].axis == part.axis:
            same.append(part)
    shared = _Joined()
    return {name: _concatenated(same, shared) for name, same in by_name.items()}


def parted(points: Points, at: int) -> tuple[Points, Points]:
    """Those before an index, and the others."""
    before = points.index < at
    first, second = (
        replace(points, rank=points.rank[some], index=points.index[some], value=points.value[some])
        for some in (before, ~before)
    )
    return first, second


def stored_name(key: str) -> str:
    """The name under which a user's key is kept: its own, unless it is too long or one of ours."""
    name = key.replace("\x00", "␀")
    if name in BUILT_IN:
        return f"user/{name}"
    if len(name) <= NAME_LIMIT:
        return name
    return f"{name[: NAME_LIMIT - 18]}…{hashlib.sha256(name.encode()).hexdigest()[:16]}"


class _Joined:
    """Columns put together once for all metrics that share them."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], Ints] = {}

    def of(self, columns: list[Ints]) -> Ints:
        key = tuple(map(id, columns))
        if key not in self._known:
            self._known[key] = np.concatenate(columns)
        return self._known[key]


def _concatenated(same: list[Points], shared: _Joined) -> Points:
    first = same[0]
    if len(same) == 1:
        return first
    return Points(
        first.name,
        first.axis,
        first.columns,
        first.dtype,
        shared.of([p.rank for p in same]),
        shared.of([p.index for p in same]),
        np.concatenate([p.value for p in same]),
    )


def _kind_of(columns: StepColumns) -> tuple[tuple[str, ...], bool]:
    return tuple([name for name in columns.columns if name in _PHASES]), bool(columns.nbytes)


def _one_of_steps(same: list[StepColumns], phases: list[str]) -> StepColumns:
    return StepColumns(
        n=sum(one.n for one in same),
        rank=b"".join([one.rank for one in same]),
        step=b"".join([one.step for one in same]),
        end=b"".join([one.end for one in same]),
        columns={name: b"".join([one.columns[name] for one in same]) for name in phases},
        nbytes=b"".join([one.nbytes for one in same]),
    )


def _one_of_values(same: list[ValueColumns]) -> ValueColumns:
    if len(same) == 1:
        return same[0]
    return ValueColumns(
        key=same[0].key,
        n=sum(one.n for one in same),
        rank=b"".join([one.rank for one in same]),
        step=b"".join([one.step for one in same]),
        time=b"",
        value=b"".join([one.value for one in same]),
    )


def _one_of_samples(same: list[SampleColumns]) -> SampleColumns:
    if len(same) == 1:
        return same[0]
    return SampleColumns(
        metric=same[0].metric,
        n=sum(one.n for one in same),
        rank=b"".join([one.rank for one in same]),
        time=b"".join([one.time for one in same]),
        value=b"".join([one.value for one in same]),
    )


class _Lengths:
    """BadContent when a column has another number of points than its message says. The same column of all messages is
    compared at once, which takes a fifth of the time.
    """

    def __init__(self, same: Sequence[StepColumns | ValueColumns | SampleColumns]) -> None:
        self._sizes = {width: [one.n * width for one in same] for width in (4, 8)}

    def check(self, what: str, width: int, columns: list[bytes]) -> None:
        sizes, lengths = self._sizes[width], [len(data) for data in columns]
        if lengths != sizes:
            size, meant = next((size, meant) for size, meant in zip(lengths, sizes, strict=True) if size != meant)
            raise BadContent(f"column {what[:80]!r} has {size} bytes for {meant // width} points")


def _check_steps(same: list[StepColumns], phases: tuple[str, ...], has_bytes: bool) -> None:
    lengths = _Lengths(same)
    for name in phases:
        lengths.check("records", 4, [one.columns[name] for one in same])
    lengths.check("records", 4, [one.rank for one in same])
    lengths.check("records", 8, [one.step for one in same])
    lengths.check("records", 8, [one.end for one in same])
    if has_bytes:
        lengths.check("records", 8, [one.nbytes for one in same])


def _check_values(same: list[ValueColumns]) -> None:
    lengths, key = _Lengths(same), same[0].key
    lengths.check(key, 4, [one.rank for one in same])
    lengths.check(key, 8, [one.step for one in same])
    lengths.check(key, 8, [one.value for one in same])


def _check_samples(same: list[SampleColumns]) -> None:
    lengths, metric = _Lengths(same), same[0].metric
    lengths.check(metric, 4, [one.rank for one in same])
    lengths.check(metric, 8, [one.time for one in same])
    lengths.check(metric, 8, [one.value for one in same])


class _Columns:
    """Ranks and steps from their bytes: equal ones that follow each other are one array."""

    def __init__(self) -> None:
        self._rank = self._step = b""
        self._ranks = self._index = np.zeros(0, np.int64)

    def ranks(self, data: bytes) -> Ints:
        if data != self._rank:
            self._ranks, self._rank = _ranks(data), data
        return self._ranks

    def index(self, data: bytes) -> Ints:
        if data != self._step:
            self._index, self._step = _index(np.frombuffer(data, "<i8")), data
        return self._index


def _steps(columns: StepColumns, known: _Columns) -> Iterator[Points]:
    rank, index = known.ranks(columns.rank), known.index(columns.step)
    micro = {phase: np.frombuffer(data, "<u4") for phase, data in columns.columns.items()}
    for name, us in micro.items():
        yield _timed(name, rank, index, us)
    if STEP in micro and EXPOSED in micro:
        step, exposed = micro[STEP], micro[EXPOSED]
        own = np.where(step > exposed, step - exposed, 0).astype(np.uint32)
        own[(step == MISSING_US) | (exposed == MISSING_US)] = MISSING_US
        yield _timed(LOCAL, rank, index, own)
    yield _present(STEP_END, rank, index, np.frombuffer(columns.end, "<f8"))
    if columns.nbytes:
        yield _present(COMM_BYTES, rank, index, np.frombuffer(columns.nbytes, "<f8"))


def _timed(name: str, rank: Ints, index: Ints, us: np.ndarray) -> Points:
    seen = us != MISSING_US
    if seen.all():
        return Points(name, "step", "rank", "us", rank, index, us / 1e6)
    return Points(name, "step", "rank", "us", rank[seen], index[seen], us[seen] / 1e6)


def _present(name: str, rank: Ints, index: Ints, value: Floats) -> Points:
    seen = ~np.isnan(value)
    if seen.all():
        return Points(name, "step", "rank", "f8", rank, index, value)
    return Points(name, "step", "rank", "f8", rank[seen], index[seen], value[seen])


def _values(values: ValueColumns, known: _Columns) -> Points:
    rank, index = known.ranks(values.rank), known.index(values.step)
    return Points(stored_name(values.key), "step", "rank", "f8", rank, index, np.frombuffer(values.value, "<f8"))


def _samples(samples: SampleColumns) -> Points:
    value, time = np.frombuffer(samples.value, "<f8"), np.frombuffer(samples.time, "<f8")
    if not np.all(np.isfinite(time)):
        raise BadContent("a sample without a time")
    kind = "node" if is_of_nodes(samples.metric) else "rank"
    rank = _ranks(samples.rank)
    keep = ~np.isnan(value)
    index = _index(np.floor(time).astype(np.int64))
    return Points(stored_name(samples.metric), "time", kind, "f8", rank[keep], index[keep], value[keep])


def _ranks(data: bytes) -> Ints:
    rank = np.frombuffer(data, "<u4").astype(np.int64)
    if rank.size and int(rank.max()) >= _RANK_LIMIT:
        raise BadContent("a rank out of range")
    return rank


def _index(index: Ints) -> Ints:
    if index.size and (int(index.min()) < -_INDEX_LIMIT or int(index.max()) > _INDEX_LIMIT):
        raise BadContent("a step or time out of range")
    return index
