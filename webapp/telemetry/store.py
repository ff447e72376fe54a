"""Tail rows into segments. Written by the one ingest process that holds the attempt's lease."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from django.db import transaction

from trainer_agent.wire import codec
from trainer_agent.wire.messages import Batch
from webapp.runs.models import Attempt
from webapp.telemetry import bundle, derive
from webapp.telemetry.blocks import Block, decode, encode
from webapp.telemetry.layers import Key, Newest, advance
from webapp.telemetry.middle import kept
from webapp.telemetry.models import Metric, Segment, Tail
from webapp.telemetry.points import Points, explode_all, joined

T = TypeVar("T")
Kind = TypeVar("Kind", Points, Newest)
_CHUNK = 400  # rows per statement; SQLite allows 32,766 variables


class Segments:
    """What the database holds of some metrics of one attempt; a `layers.Stored`."""

    def __init__(self, attempt: Attempt, names: Iterable[str]) -> None:
        self.metrics: dict[str, Metric] = {}
        for chunk in chunks(names):
            rows = Metric.objects.filter(attempt=attempt, name__in=chunk)
            self.metrics.update({row.name: row for row in rows})
        self.loaded: dict[Key, Block] = {}

    def extent(self, name: str) -> tuple[int, int] | None:
        """First and last stored index."""
        row = self.metrics.get(name)
        if row is None or row.first_index is None or row.last_index is None:
            return None
        return row.first_index, row.last_index

    def blocks(self, keys: set[Key]) -> dict[Key, Block]:
        """Those of the blocks that are stored."""
        missing = {key for key in keys if key not in self.loaded and key.name in self.metrics}
        names = {row.pk: name for name, row in self.metrics.items()}
        for level in {key.level for key in missing}:
            wanted = [key for key in missing if key.level == level]
            for row in self._rows(level, wanted):
                self.loaded[Key(names[row.metric_id], level, row.block)] = decode(bytes(row.payload))
        return {key: self.loaded[key] for key in keys if key in self.loaded}

    def _rows(self, level: int, wanted: list[Key]) -> Iterator[Segment]:
        numbers = {key.block for key in wanted}
        for chunk in chunks(sorted({self.metrics[key.name].pk for key in wanted})):
            yield from Segment.objects.filter(metric__in=chunk, level=level, block__in=numbers)


def compact(attempt: Attempt, tails: list[Tail]) -> int:
    """Move the content of `tails` into segments and delete them, in one transaction. Points moved."""
    points = points_of(tails)
    with transaction.atomic():
        write(attempt, points)
        forget(tail.pk for tail in tails)
    return sum(part.index.size for part in points.values())


def forget(tails: Iterable[int]) -> None:
    """Delete tails, by their keys, whose content is in segments."""
    for chunk in chunks(tails):
        Tail.objects.filter(pk__in=chunk).delete()


def points_of(tails: Iterable[Tail]) -> dict[str, Points]:
    """The points of tails, which come in the order in which they were stored."""
    return joined(explode_all(batches_of(tails)))


def batches_of(tails: Iterable[Tail]) -> Iterator[Batch]:
    """The messages that tails hold."""
    return (codec.decode_batch(message) for tail in tails for message in bundle.messages(bytes(tail.payload)))


def write(attempt: Attempt, points: dict[str, Points], newest: Mapping[str, Newest] | None = None) -> None:
    """Points, and then the newest rows, into all levels; a cell that was there is overwritten."""
    newest = newest or {}
    stored = Segments(attempt, sorted({*points, *newest, *derive.SOURCES}))
    axes = {name: some.axis for name, some in newest.items()} | {name: m.axis for name, m in stored.metrics.items()}
    points, newest = _of_axes(points, axes), _of_axes(newest, axes)
    changed = advance(points, stored, attempt.world_size, newest)
    metrics = _upsert_metrics(attempt, {**points, **newest}, stored, changed)
    rows = [
        Segment(
            metric=metrics[key.name],
            level=key.level,
            block=key.block,
            rows=block.index.size,
            payload=encode(block, metrics[key.name].dtype),
            middle=kept(key.name, block),
        )
        for key, block in sorted(changed.items(), key=lambda item: item[0])
    ]
    for chunk in chunks(rows):
        Segment.objects.bulk_create(
            chunk,
            update_conflicts=True,
            unique_fields=["metric", "level", "block"],
            update_fields=["rows", "payload", "middle"],
        )


def _of_axes(some: Mapping[str, Kind], axes: dict[str, str]) -> dict[str, Kind]:
    """Those of which nothing is known on another axis."""
    return {name: one for name, one in some.items() if axes.get(name, one.axis) == one.axis}


def _upsert_metrics(
    attempt: Attempt, kinds: Mapping[str, Points | Newest], stored: Segments, changed: dict[Key, Block]
) -> dict[str, Metric]:
    rows: dict[str, Metric] = {}
    raw = {key: block for key, block in changed.items() if key.level == 0}
    old = stored.blocks(set(raw))
    for key, block in raw.items():
        row = rows.get(key.name) or stored.metrics.get(key.name) or _new(attempt, key.name, kinds)
        row.points += block.points - (old[key].points if key in old else 0)
        rows[key.name] = row
        if not block.index.size:
            continue
        first, last = int(block.index[0]), int(block.index[-1])
        row.first_index = first if row.first_index is None else min(row.first_index, first)
        row.last_index = last if row.last_index is None else max(row.last_index, last)
    ordered = [rows[name] for name in sorted(rows)]
    for chunk in chunks(ordered):
        Metric.objects.bulk_create(
            [_without_pk(row) for row in chunk],
            update_conflicts=True,
            unique_fields=["attempt", "name"],
            update_fields=["first_index", "last_index", "points"],
        )
    return Segments(attempt, sorted(rows)).metrics


def _new(attempt: Attempt, name: str, kinds: Mapping[str, Points | Newest]) -> Metric:
    if name in derive.SOURCES:
        return Metric(attempt=attempt, name=name, axis="step", columns="rank", dtype=derive.DTYPE[name])
    made = kinds[name]
    return Metric(attempt=attempt, name=name, axis=made.axis, columns=made.columns, dtype=made.dtype)


def _without_pk(row: Metric) -> Metric:
    return Metric(
        attempt_id=row.attempt_id,
        name=row.name,
        axis=row.axis,
        columns=row.columns,
        dtype=row.dtype,
        first_index=row.first_index,
        last_index=row.last_index,
        points=row.points,
    )


def chunks(items: Iterable[T], size: int = _CHUNK) -> Iterator[list[T]]:
    """Lists of at most `size`, for statements that take a bounded number of variables."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
