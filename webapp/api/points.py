"""Stored points as JSON or CSV, piece by piece: every one at full resolution, in the order of steps or times."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from webapp.telemetry.models import Metric
from webapp.telemetry.read import Reader, Series

WINDOW = 65_536  # indexes read at once
MOST_WINDOWS = 256  # of a metric whose few points lie far apart
PIECE = 16_384  # points that become text at once
Column = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


def windows(reader: Reader, metric: Metric | None) -> Iterator[Series]:
    """A metric's points from first to last, so that no answer is held in memory at once."""
    if metric is None or metric.first_index is None or metric.last_index is None:
        return
    first, last = metric.first_index, metric.last_index
    size = max(WINDOW, (last - first) // MOST_WINDOWS + 1)
    for start in range(first, last + 1, size):
        yield reader.series(metric.name, start, start + size - 1)


def json_of_one(head: dict[str, Any], parts: Iterable[Series], column: int) -> Iterator[bytes]:
    """`{…head, "points": [[index, value], …], "nonfinite": {index: text}}` of one column."""
    strange: dict[str, str] = {}
    yield json.dumps(head)[:-1].encode() + b', "points": '
    yield from _pairs((_column(part, column) for part in parts), strange)
    yield b', "nonfinite": ' + json.dumps(strange).encode() + b"}"


def json_of_all(head: dict[str, Any], parts: Iterable[Series]) -> Iterator[bytes]:
    """`{…head, "ranks": {column: points}, "nonfinite": {column: {index: text}}}`."""
    columns: dict[int, list[Column]] = {}
    for part in parts:
        for column in part.columns:
            columns.setdefault(column, []).append(_column(part, column))
    strange: dict[str, dict[str, str]] = {}
    yield json.dumps(head)[:-1].encode() + b', "ranks": {'
    for number, column in enumerate(sorted(columns)):
        yield (b", " if number else b"") + f'"{column}": '.encode()
        found: dict[str, str] = {}
        yield from _pairs(columns.pop(column), found)
        if found:
            strange[str(column)] = found
    yield b'}, "nonfinite": ' + json.dumps(strange).encode() + b"}"


def csv_of(axis: str, parts: Iterable[Series], column: int | None) -> Iterator[bytes]:
    """`step,rank,value` (or `time,…`), one line a point; of one column, or of all."""
    yield f"{axis},rank,value\n".encode()
    for part in parts:
        columns = np.asarray(part.columns, np.int64)
        keep = np.ones(columns.size, bool) if column is None else columns == column
        rows, places = np.nonzero(part.present & keep)
        for some in _pieces(rows.size):
            row, at = rows[some], places[some]
            cells = (part.index[row].tolist(), columns[at].tolist(), part.values[row, at].tolist())
            lines = (f"{index},{rank},{_text(value)}\n" for index, rank, value in zip(*cells, strict=True))
            yield "".join(lines).encode()


def _column(part: Series, column: int) -> Column:
    if column not in part.columns:
        return np.zeros(0, np.int64), np.zeros(0)
    at = part.columns.index(column)
    there = part.present[:, at]
    return part.index[there], part.values[there, at]


def _pairs(parts: Iterable[Column], strange: dict[str, str]) -> Iterator[bytes]:
    """`[[index, value], …]`; what JSON cannot say is null and noted in `strange`."""
    yield b"["
    between = b""
    for index, values in parts:
        for some in _pieces(index.size):
            yield between + _pairs_of(index[some], values[some], strange)
            between = b", "
    yield b"]"


def _pairs_of(index: npt.NDArray[np.int64], values: npt.NDArray[np.float64], strange: dict[str, str]) -> bytes:
    pairs: list[list[Any]] = [list(pair) for pair in zip(index.tolist(), values.tolist(), strict=True)]
    for position in np.flatnonzero(~np.isfinite(values)).tolist():
        strange[str(pairs[position][0])] = _text(pairs[position][1])
        pairs[position][1] = None
    return json.dumps(pairs)[1:-1].encode()


def _pieces(points: int) -> Iterator[slice]:
    """A number takes many times more room as text and in lists than where it is stored."""
    return (slice(start, start + PIECE) for start in range(0, points, PIECE))


def _text(value: float) -> str:
    """A number that reads back as the same one; `NaN`, `Infinity` or `-Infinity` for what is none."""
    if np.isfinite(value):
        return repr(value)
    return "NaN" if np.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
