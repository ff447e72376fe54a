"""What an export is cut into: units that each fit into memory and a few seconds, in the order of the file."""

import re
from collections.abc import Iterable, Iterator
from typing import TypedDict

from webapp.exports.models import Kind
from webapp.runs.models import Attempt, Run
from webapp.telemetry import logs
from webapp.telemetry.models import Metric
from webapp.telemetry.read import Reader

POINTS = 1_000_000  # about so many in one unit
_ABOUT_WEIGHT = 1_000.0  # a unit's costs beside its points
_BYTES_PER_POINT = 40.0  # a log byte costs so much less


class Piece(TypedDict):
    """A window of one metric: `first` to `last` index."""

    name: str
    first: int
    last: int


class Unit(TypedDict):
    """One file of the archive. `what`: run, attempt, log, or a Kind of numbers. `weight`: its share of the work."""

    what: str
    attempt: int
    path: str
    rank: int
    pieces: list[Piece]
    weight: float


def plan(run: Run, kinds: Iterable[str]) -> list[Unit]:
    """Everything that there is now; what is stored later is for another export."""
    units = [_unit("run", 0, "", _ABOUT_WEIGHT)]
    for attempt in run.attempts.order_by("number"):
        folder = f"attempt-{attempt.number}"
        units.append(_unit("attempt", attempt.number, folder, _ABOUT_WEIGHT))
        metrics = Reader(attempt).metrics()
        for kind in (Kind.PARQUET, Kind.CSV, Kind.JSON):
            if kind in kinds:
                units += _of_numbers(kind, attempt.number, f"{folder}/metrics", metrics)
        if Kind.LOGS in kinds:
            units += _of_logs(attempt, f"{folder}/logs")
    return units


def _of_numbers(kind: Kind, attempt: int, folder: str, metrics: list[Metric]) -> list[Unit]:
    if kind == Kind.PARQUET:
        return list(_together(attempt, folder, metrics))
    files = file_names([metric.name for metric in metrics])
    units = []
    for metric in metrics:
        pieces = list(windows(metric))
        for number, piece in enumerate(pieces):
            part = f".{number:04d}" if len(pieces) > 1 else ""
            path = f"{folder}/{files[metric.name]}{part}.{kind.value}"
            units.append(_unit(kind.value, attempt, path, metric.points / len(pieces), pieces=[piece]))
    return units


def _together(attempt: int, folder: str, metrics: list[Metric]) -> Iterator[Unit]:
    """Parquet's files hold many small metrics each, or a part of a large one."""
    taken: list[Piece] = []
    points, number = 0.0, 0
    for metric in metrics:
        pieces = list(windows(metric))
        for piece in pieces:
            taken.append(piece)
            points += metric.points / len(pieces)
            if points >= POINTS:
                yield _unit(Kind.PARQUET, attempt, f"{folder}/part-{number:05d}.parquet", points, pieces=taken)
                taken, points, number = [], 0.0, number + 1
    if taken or not number:
        yield _unit(Kind.PARQUET, attempt, f"{folder}/part-{number:05d}.parquet", points, pieces=taken)


def windows(metric: Metric) -> Iterator[Piece]:
    """Windows of about `POINTS` points each, were they spread evenly."""
    if metric.first_index is None or metric.last_index is None:
        return
    first, span = metric.first_index, metric.last_index - metric.first_index + 1
    size = -(-span // max(1, -(-metric.points // POINTS)))
    for start in range(first, first + span, size):
        yield {"name": metric.name, "first": start, "last": min(start + size, first + span) - 1}


def file_names(names: Iterable[str]) -> dict[str, str]:
    """A file's name for each metric: safe on every disk, no two alike in any case of letters."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        base = re.sub(r"[^A-Za-z0-9._=+-]+", "_", name).strip("._")[:100] or "metric"
        file, number = base, 1
        while file.lower() in taken:
            number += 1
            file = f"{base}-{number}"
        taken.add(file.lower())
        found[name] = file
    return found


def _of_logs(attempt: Attempt, folder: str) -> Iterator[Unit]:
    for rank, length in logs.sizes(attempt).items():
        name = f"launcher{-1 - rank}" if rank < 0 else f"rank{rank}"
        yield _unit("log", attempt.number, f"{folder}/{name}.log", length / _BYTES_PER_POINT, rank=rank)


def _unit(
    what: str, attempt: int, path: str, points: float, *, pieces: list[Piece] | None = None, rank: int = 0
) -> Unit:
    weight = _ABOUT_WEIGHT + points
    return {"what": what, "attempt": attempt, "path": path, "rank": rank, "pieces": pieces or [], "weight": weight}
