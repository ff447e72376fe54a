"""All attempts of a run read as one: what `read.Reader` is for an attempt."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from webapp.runs.models import Run
from webapp.telemetry.ahead import Ask, Together
from webapp.telemetry.blocks import Block
from webapp.telemetry.merge import joined
from webapp.telemetry.models import Metric
from webapp.telemetry.points import BUILT_IN, STEP
from webapp.telemetry.read import Reader
from webapp.telemetry.series import Series, series_of
from webapp.telemetry.shelf import Shelf
from webapp.telemetry.stitch import cut_of, laid_over
from webapp.telemetry.view import View, level_for

Spans = list[tuple[int, int, int]]  # (attempt number, first index, last index)
MOST_GHOSTS = 12  # the newest that have something to show


@dataclass(frozen=True, slots=True)
class _Part:
    """One attempt's view of a metric up to where a later attempt did its steps again."""

    reader: Reader
    view: View
    cut: int | None

    def beyond(self, lo: int | None, hi: int | None) -> View | None:
        """What of lo … hi a later attempt did again; None where the window ends before."""
        if self.cut is None or (hi is not None and hi < self.cut):
            return None
        return self.reader.view(self.view.name, self.cut if lo is None else max(lo, self.cut), hi)


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
        self.shelf = Shelf()
        self._readers = {attempt.number: Reader(attempt, shelf=self.shelf) for attempt in self.attempts}
        self._known: set[str] = set()

    @cached_property
    def spans(self) -> Spans:
        """Of the attempts that made steps, by the script's own count."""
        return self._spans_of(STEP)

    def metrics(self, query: str = "", after: str = "", limit: int | None = None) -> list[Metric]:
        """Metrics of all attempts by name, with the extent of the main line; see `read.metrics`."""
        rows: dict[str, Metric] = {}
        for number, reader in self._readers.items():
            for row in reader.metrics(query, after, limit):
                rows[row.name] = self._beside(rows.get(row.name), number, row)
        return [rows[name] for name in sorted(rows)[:limit]]

    def metric(self, name: str) -> Metric | None:
        """As `metrics` gives it; None when no attempt has it."""
        self.know([name])
        found = None
        for number, reader in self._readers.items():
            row = reader.metric(name)
            found = found if row is None else self._beside(found, number, row)
        return found

    def know(self, names: Iterable[str]) -> None:
        """The stored rows of these metrics, and of all that every process counts, read at once; see `Reader.know`."""
        wanted = {*names, *BUILT_IN} - self._known
        if not wanted:
            return
        self._known |= wanted
        for reader in self._readers.values():
            reader.load_young()
        rows = list(Metric.objects.filter(attempt__run=self.run, name__in=wanted))
        for reader in self._readers.values():
            reader.know(wanted, [row for row in rows if row.attempt_id == reader.attempt.pk])

    def lay_over(self, names: Iterable[str]) -> None:
        """See `Reader.lay_over`."""
        wanted = set(names)
        for reader in self._readers.values():
            reader.lay_over(wanted)

    def together(self, ask: Ask) -> list[Together]:
        """The views that are read for it, those of what attempts did again included."""
        parts = self._parts(ask.name, ask.lo, ask.hi)
        views = [part.view for part in parts]
        if ask.ghost_rows is None or len(self.attempts) == 1:
            return [Together(views, ask.max_rows, ask.of_middle and len(parts) == 1)]
        beyond = [view for part in parts[-MOST_GHOSTS:] if (view := part.beyond(ask.lo, ask.hi)) is not None]
        again = [Together([view], ask.ghost_rows) for view in beyond]
        return [Together(views, ask.max_rows), Together(views, ask.ghost_rows), *again]

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
        parts = self._parts(name, lo, hi)
        level = 0 if max_rows is None else level_for([part.view for part in parts], max_rows)
        main, hidden = laid_over([part.view.at(level) for part in parts], level)
        total = main.index.size if level == 0 else sum(part.view.raw_rows() for part in parts)
        axis = parts[-1].view.axis if parts else "step"
        return _Read(series_of(name, axis, main, level, total), parts, hidden)

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
        self.know([name])
        found = []
        for number, reader in self._readers.items():
            row = reader.metric(name)
            if row is not None and row.first_index is not None and row.last_index is not None:
                found.append((number, row.first_index, row.last_index))
        return found

    def _beside(self, older: Metric | None, number: int, row: Metric) -> Metric:
        """An attempt's row of a metric, up to where a later one did its steps again, with those before it."""
        cut = cut_of(number, self.spans)
        if cut is not None and row.axis == "step" and row.last_index is not None:
            row.last_index = min(row.last_index, cut - 1)
        return row if older is None else _both(older, row)


def _again(part: _Part, hidden: Block, lo: int | None, hi: int | None, max_rows: int | None) -> Series:
    """What is beyond the part's cut, and below it what is hidden."""
    view = part.beyond(lo, hi)
    if view is None:
        return series_of(part.view.name, part.view.axis, hidden, 0, hidden.index.size)
    beyond = view.series(max_rows)
    if beyond.level or not hidden.index.size:
        return beyond
    block = joined([hidden, Block(beyond.index, np.array(beyond.columns), beyond.values, beyond.present)])
    return series_of(view.name, view.axis, block, 0, block.index.size)


def _both(older: Metric, newer: Metric) -> Metric:
    """Two attempts' rows of one metric as one."""
    edges = [(row.first_index, row.last_index) for row in (older, newer)]
    known = [(first, last) for first, last in edges if first is not None and last is not None and first <= last]
    newer.first_index = min((first for first, _last in known), default=None)
    newer.last_index = max((last for _first, last in known), default=None)
    newer.points += older.points
    return newer
