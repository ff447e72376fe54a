"""What a page will read, known before it reads: then the database is asked for all of it at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from webapp.runs.models import Attempt
from webapp.telemetry.models import Metric
from webapp.telemetry.shelf import Shelf
from webapp.telemetry.view import View, level_for

MOST_CELLS = 8_000_000  # packed, some tens of megabytes that wait until they are drawn


class Ask(NamedTuple):
    """A series that will be read: see `read.Reader.series`, and `middle` or `ghosts` of it."""

    name: str
    lo: int | None
    hi: int | None
    max_rows: int
    of_middle: bool = False
    ghost_rows: int | None = None  # of what a later attempt did again


@dataclass(frozen=True, slots=True)
class Together:
    """Views that are read at the same level, the finest at which they have at most so many rows together."""

    views: Sequence[View]
    max_rows: int
    of_middle: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether the windows' width leaves the level open."""
        return sum(view.most_rows for view in self.views) > self.max_rows


class Reads(Protocol):
    """A `Reader` or a `RunReader`."""

    attempt: Attempt
    shelf: Shelf

    def know(self, names: Iterable[str]) -> None: ...
    def metric(self, name: str) -> Metric | None: ...
    def lay_over(self, names: Iterable[str]) -> None: ...
    def together(self, ask: Ask) -> list[Together]: ...


def read_ahead(reader: Reads, asks: Iterable[Ask]) -> None:
    """How often the database is asked does not grow with the series, unless they are so big that they are better read
    one by one.
    """
    each = list(dict.fromkeys(asks))
    reader.know(ask.name for ask in each)
    some = _affordable(reader, each)
    reader.lay_over({ask.name for ask in some})
    _fetch(reader.shelf, [group for ask in some for group in reader.together(ask)])


def _affordable(reader: Reads, asks: list[Ask]) -> list[Ask]:
    found, left = [], MOST_CELLS
    for ask in asks:
        metric = reader.metric(ask.name)
        ranks = 1 if ask.of_middle else reader.attempt.world_size
        cells = 0 if metric is None else min(metric.points, ask.max_rows * ranks)
        if cells <= left:
            left -= cells
            found.append(ask)
    return found


def _fetch(shelf: Shelf, groups: list[Together]) -> None:
    """First what tells the levels, then the blocks."""
    counted = [view for group in groups if group.is_counted for view in group.views]
    shelf.count(view.window for view in counted)
    shelf.read(want for view in counted for want in view.sizes())
    wants = []
    for group in groups:
        level = level_for(group.views, group.max_rows)
        wants += [want for view in group.views for want in view.wants(level, of_middle=group.of_middle)]
    shelf.read(wants)
