"""All attempts of a run read as one: what `read.Reader` is for an attempt."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from webapp.runs.models import Run
from webapp.telemetry.blocks import Block
from webapp.telemetry.layers import MAX_LEVEL
from webapp.telemetry.merge import joined, stride
from webapp.telemetry.models import Metric
from webapp.telemetry.points import BUILT_IN, STEP
from webapp.telemetry.read import Reader
from webapp.telemetry.series import Series, series_of
from webapp.telemetry.stitch import cut_of, laid_over
from webapp.telemetry.view import View

Spans = list[tuple[int, int, int]]  # (attempt number, first index, last index)
MOST_GHOSTS = 12  # the newest that have something to show


@dataclass(frozen=True, slots=True)
class _Part:
    """One attempt's view of a metric up to where a later attempt did its steps again."""

    reader: Reader
    view: View
    cut: int | None


@dataclass(frozen=True, slots=True)
class _Read:
    """A main line, and what of each part a newer one has at the same index."""

    main: Series
    parts: list[_Part]
    hidden: list[Block]


class RunReader:
    """Reads a run at one moment. The main line follows the newest attempt; see `stitch.py`."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.attempts = list(run.attempts.select_related("run").order_by("number"))
        self.attempt = self.attempts[-1]
        self._readers = {attempt.number: Reader(attempt) for attempt in self.attempts}
        self._reads: dict[tuple[str, int | None, int | None, int | None], _Read] = {}

    @cached_property
    def spans(self) -> Spans:
        """Of the attempts that made steps, by the script's own count."""
        return self._spans_of(STEP)

    def metrics(self, query: str = "", after: str = "", limit: int | None = None) -> list[Metric]:
        """Metrics of all attempts by name, with the extent of the main line; see `read.metrics`."""
        rows: dict[str, Metric] = {}
        for number, reader in self._readers.items():
            cut = cut_of(number, self.spans)
            for row in reader.metrics(query, after, limit):
                if cut is not None and row.axis == "step" and row.last_index is not None:
                    row.last_index = min(row.last_index, cut - 1)
                rows[row.name] = _both(rows[row.name], row) if row.name in rows else row
        return [rows[name] for name in sorted(rows)[:limit]]

    def axes(self) -> dict[str, str]:
        """Axis of every metric of any attempt; see `read.Reader.axes`."""
        return {name: axis for reader in self._readers.values() for name, axis in reader.axes().items()}

    def series(self, name: str, lo: int | None = None, hi: int | None = None, max_rows: int | None = None) -> Series:
        """The main line; see `read.series`."""
        return self._read(name, lo, hi, max_rows).main

    def middle(self, name: str, lo: int | None = None, hi: int | None = None, max_rows: int | None = None) -> Series:
        """The median rank of the main line; see `read.Reader.middle`."""
        parts = self._parts(name, lo, hi)
        return parts[0].view.middle(max_rows) if len(parts) == 1 else self.series(name, lo, hi, max_rows)

    def ghosts(
        self, name: str, lo: int | None = None, hi: int | None = None, max_rows: int | None = None
    ) -> list[tuple[int, Series]]:
        """(attempt number, what of it a later attempt did again) of the newest that have such, oldest first."""
        if len(self.attempts) == 1:
            return []
        read = self._read(name, lo, hi, max_rows)
        found: list[tuple[int, Series]] = []
        for part, hidden in zip(reversed(read.parts), reversed(read.hidden), strict=True):
            again = _again(part, hidden, lo, hi, max_rows)
            if again.index.size and len(found) < MOST_GHOSTS:
                found.append((part.reader.attempt.number, again))
        return found[::-1]

    def _read(self, name: str, lo: int | None, hi: int | None, max_rows: int | None) -> _Read:
        key = (name, lo, hi, max_rows)
        if key not in self._reads:
            parts = self._parts(name, lo, hi)
            level = 0 if max_rows is None else _level_for([part.view for part in parts], max_rows)
            main, hidden = laid_over([part.view.at(level) for part in parts], level)
            total = main.index.size if level == 0 else sum(part.view.raw_rows() for part in parts)
            axis = parts[-1].view.axis if parts else "step"
            self._reads[key] = _Read(series_of(name, axis, main, level, total), parts, hidden)
        return self._reads[key]

    def _parts(self, name: str, lo: int | None, hi: int | None) -> list[_Part]:
        """Of the attempts that have the metric, oldest first."""
        having = self._spans_of(name)
        spans = list(self.spans)
        if name not in BUILT_IN:  # where the probe counts no steps, the script's own word stands for them
            counted = {number for number, _first, _last in spans}
            spans += [span for span in having if span[0] not in counted]
        parts = []
        for number, _first, _last in having:
            view = self._readers[number].view(name, lo, hi)
            cut = None if view.axis == "time" else cut_of(number, spans)
            if cut is not None and (hi is None or hi >= cut):
                view = self._readers[number].view(name, lo, cut - 1)
            parts.append(_Part(self._readers[number], view, cut))
        return parts

    def _spans_of(self, name: str) -> Spans:
        # Young data first: it may move to what is stored meanwhile.
        young = {number: reader.young_row(name) for number, reader in self._readers.items()}
        stored = {row.attempt_id: copy(row) for row in self._stored(name)}
        found = []
        for number, reader in self._readers.items():
            row = stored.get(reader.attempt.pk) or young[number]
            row = reader.complete(row) if row is not None else None
            if row is not None and row.first_index is not None and row.last_index is not None:
                found.append((number, row.first_index, row.last_index))
        return found

    def _stored(self, name: str) -> Iterable[Metric]:
        return self._built_in[name] if name in BUILT_IN else Metric.objects.filter(attempt__run=self.run, name=name)

    @cached_property
    def _built_in(self) -> dict[str, list[Metric]]:
        """The rows of what every process counts, read at once: most charts need several."""
        rows: dict[str, list[Metric]] = {name: [] for name in BUILT_IN}
        for row in Metric.objects.filter(attempt__run=self.run, name__in=BUILT_IN):
            rows[row.name].append(row)
        return rows


def _again(part: _Part, hidden: Block, lo: int | None, hi: int | None, max_rows: int | None) -> Series:
    """What is beyond the part's cut, and below it what is hidden."""
    view = part.view
    if part.cut is None or (hi is not None and hi < part.cut):
        return series_of(view.name, view.axis, hidden, 0, hidden.index.size)
    beyond = part.reader.view(view.name, part.cut if lo is None else max(lo, part.cut), hi).series(max_rows)
    if beyond.level or not hidden.index.size:
        return beyond
    block = joined([hidden, Block(beyond.index, np.array(beyond.columns), beyond.values, beyond.present)])
    return series_of(view.name, view.axis, block, 0, block.index.size)


def _level_for(views: list[View], max_rows: int) -> int:
    """The finest level at which all views together have at most so many rows, or else the coarsest."""
    if sum(view.most_rows for view in views) <= max_rows:
        return 0
    for level in range(MAX_LEVEL):
        if sum(_rows_at(view, level) for view in views) <= max_rows or not any(level + 1 in v.rows for v in views):
            return level
    return MAX_LEVEL


def _rows_at(view: View, level: int) -> int:
    stored = max((known for known in view.rows if known <= level), default=0)
    return -(-view.rows.get(stored, 0) // stride(level - stored))


def _both(older: Metric, newer: Metric) -> Metric:
    """Two attempts' rows of one metric as one."""
    edges = [(row.first_index, row.last_index) for row in (older, newer)]
    known = [(first, last) for first, last in edges if first is not None and last is not None and first <= last]
    newer.first_index = min((first for first, _last in known), default=None)
    newer.last_index = max((last for _first, last in known), default=None)
    newer.points += older.points
    return newer
