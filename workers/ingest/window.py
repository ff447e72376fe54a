"""The newest steps of one attempt in memory: for live frames, and what is not in segments yet. Built again from the
database after a restart.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from webapp.runs.models import Attempt
from webapp.telemetry import derive
from webapp.telemetry.blocks import Block, empty
from webapp.telemetry.layers import Newest
from webapp.telemetry.loss import loss_key
from webapp.telemetry.merge import Layout, rows_of
from webapp.telemetry.points import BUILT_IN, STEP, Points, joined, parted
from webapp.telemetry.read import Reader, Series, series_of
from workers.ingest.rolling import Cells, Rolling

STEPS = 256
SECONDS = 120
MOST_VALUES = 40  # logged keys that frames carry; a page reads others again by itself
WAIT_S = 2.0  # for the ranks of a step that have not reported
_RECENT = 64  # rows that tell which ranks report


class Kind(NamedTuple):
    """What a metric is, as `Points` name it."""

    axis: str
    columns: str
    dtype: str


@dataclass(slots=True)
class Fresh:
    """Indexes to publish: of steps, and of each logged key and each sampled metric."""

    steps: list[int] = field(default_factory=list)
    named: dict[str, set[int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.steps or self.named)


class Window:
    """Blocks of the newest indexes of every metric, and which of them no frame has carried yet.

    Blocks are as stored and change with the next points; what is read here has the script's own steps: `first_step`
    is added.
    """

    def __init__(self, world_size: int, first_step: int = 0) -> None:
        self.world_size, self.first_step = world_size, first_step
        self.blocks: dict[str, Block] = {}
        self.axis: dict[str, str] = {}
        self._rolling: dict[str, Rolling] = {}
        self._kinds: dict[str, Kind] = {}
        self._others: set[str] = set()  # logged keys that are not here
        self._arrived: dict[int, float] = {}  # step -> when its first record came
        self._named: dict[str, dict[int, float]] = {}  # the same of indexes of logged keys and sampled metrics
        self._filled: dict[int, float] = {}  # the same of steps that came too late for the window
        self._added_at = 0.0

    def fill(self, attempt: Attempt) -> None:
        """What is in segments."""
        reader = Reader(attempt, first_step=0, young={})
        rows = reader.metrics()
        logged = {row.name for row in rows if row.axis == "step" and row.name not in BUILT_IN}
        self._others = logged - _kept(logged)
        for row in rows:
            if row.name in derive.SOURCES or row.name in self._others or row.last_index is None:
                continue
            since = row.last_index - _reach(row.axis)
            found = reader.series(row.name, lo=since)
            columns = np.array(found.columns, dtype=np.int64)
            if found.index.size:
                block = Block(found.index, columns, found.values, found.present)
                self._take(row.name, Kind(row.axis, row.columns, row.dtype), block, since)

    def add(self, points: Iterable[Points], now: float) -> list[Points]:
        """Take points that were stored; those that are older than what is here, or of other keys, come back.

        `now`: monotonic seconds.
        """
        layouts: dict[tuple[int, int], Layout] = {}
        cells: defaultdict[tuple[int, int], Cells] = defaultdict(dict)
        back: list[Points] = []
        for name, part in joined(points).items():
            if not self._takes(name, part):
                back.append(part)
                continue
            place = (id(part.rank), id(part.index))  # metrics of the same records share their columns
            if place not in layouts:
                layouts[place] = Layout(part.rank, part.index)
            layout = layouts[place]
            rolling = self._rolling.get(name)
            if rolling is None:
                self._take(name, Kind(part.axis, part.columns, part.dtype), layout.block(part.value))
            elif int(layout.rows[0]) >= rolling.since:
                rolling.put(layout, part.value, cells[place])
            else:
                late, fresh = parted(part, rolling.since)
                back.append(late)
                if fresh.index.size:
                    rolling.put(Layout(fresh.rank, fresh.index), fresh.value, {})
            self.blocks[name] = self._rolling[name].block
            newest = int(self.blocks[name].index[-1])
            self._note(name, part.axis, layout.rows.tolist(), newest - _reach(part.axis), now)
        return back

    def drop_news(self, before: float) -> None:
        """What came before this moment (monotonic seconds) is no news: a page that opens reads it."""
        self._arrived, self._filled = _since(self._arrived, before), _since(self._filled, before)
        named = {name: _since(indexes, before) for name, indexes in self._named.items()}
        self._named = {name: indexes for name, indexes in named.items() if indexes}

    def young(self, before: int | None) -> dict[str, Newest]:
        """The rows of all level 0 blocks of which something is not in segments; of records those before a step only."""
        found = {}
        for name, rolling in self._rolling.items():
            block = rolling.changed(before if name in BUILT_IN else None)
            if block is not None:
                kind = self._kinds[name]
                found[name] = Newest(kind.axis, kind.columns, kind.dtype, block, rolling.since)
        return found

    def stored(self, before: int | None) -> None:
        """What `young` gave is in segments now."""
        for name, rolling in self._rolling.items():
            rolling.stored(before if name in BUILT_IN else None)

    def young_points(self, only: frozenset[str]) -> list[Points]:
        """Of some built-in metrics what is not in segments, and perhaps a few points that are."""
        found = []
        for name in only & set(self._rolling):
            block, kind = self._rolling[name].young(), self._kinds[name]
            if block is not None:
                row, column = np.nonzero(block.present)
                rank, index, value = block.columns[column], block.index[row], block.values[row, column]
                found.append(Points(name, kind.axis, kind.columns, kind.dtype, rank, index, value))
        return found

    def _take(self, name: str, kind: Kind, block: Block, since: int | None = None) -> None:
        """The first that is known of a metric."""
        self._rolling[name] = Rolling(block, _reach(kind.axis), since)
        self._kinds[name] = kind
        self.blocks[name], self.axis[name] = self._rolling[name].block, kind.axis

    def _note(self, name: str, axis: str, fresh: list[int], first: int, now: float) -> None:
        """What came, for the next frame. `first`: the window's first index."""
        self._added_at = now
        if axis == "step":
            moved = self.first_step if name in BUILT_IN else 0
            self._filled |= {step + moved: now for step in fresh if step < first}
        if name == STEP:
            self._arrived = dict.fromkeys(fresh, now) | self._arrived
        elif name not in BUILT_IN:
            self._named.setdefault(name, {}).update(dict.fromkeys(fresh, now))

    def take(self, now: float) -> Fresh:
        """What is to be published: complete steps, or those that have waited long enough."""
        complete = self._complete()
        ready = [step for step, at in self._arrived.items() if step in complete or now - at >= WAIT_S]
        for step in ready:
            del self._arrived[step]
        named, self._named = self._named, {}
        return Fresh(sorted(step + self.first_step for step in ready), {name: set(named[name]) for name in named})

    def take_filled(self) -> tuple[int, int] | None:
        """First and last of the steps that came too late for the window since the last look."""
        filled, self._filled = self._filled, {}
        return (min(filled), max(filled)) if filled else None

    def waiting(self) -> bool:
        """Whether something is not published yet."""
        return bool(self._arrived or self._named or self._filled)

    def quiet_s(self, now: float) -> float:
        """Seconds since something was stored. `now`: monotonic seconds."""
        return now - self._added_at

    def lacks(self) -> bool:
        """Whether published steps lack ranks or numbers."""
        block = self.blocks.get(STEP)
        if block is None:
            return False
        settled = ~np.isin(block.index, list(self._arrived))
        index = block.index[settled]
        whole = block.columns.size == self.world_size and bool(block.present[settled].all())
        return not whole or (index.size > 0 and int(index[-1] - index[0]) >= index.size)

    def series(self, name: str, newest: int = 0) -> Series:
        """A metric in the window; derived ones too. `newest`: only so many rows."""
        block = self.blocks.get(name)
        if name in derive.SOURCES:
            sources = [self.blocks.get(source) for source in derive.SOURCES[name]]
            known = [source for source in sources if source is not None]
            block = derive.derived(name, known, self.world_size) if len(known) == len(sources) else None
        found = rows_of(block, slice(-newest, None)) if block else empty()
        if name in BUILT_IN:
            found = replace(found, index=found.index + self.first_step)
        return series_of(name, self.axis.get(name, "step"), found, 0, found.index.size)

    def logged(self) -> list[str]:
        """Keys of the script that are in the window."""
        return sorted(name for name, axis in self.axis.items() if axis == "step" and name not in BUILT_IN)

    def _takes(self, name: str, part: Points) -> bool:
        if name in self.blocks or name in BUILT_IN or part.axis == "time":
            return self.axis.get(name, part.axis) == part.axis
        logged = self.logged()
        if name in self._others or (len(logged) >= MOST_VALUES and name != loss_key([*logged, name])):
            self._others.add(name)
            return False
        return True

    def _complete(self) -> set[int]:
        block = self.blocks.get(STEP)
        if block is None:
            return set()
        reporting = block.present[-_RECENT:].any(axis=0)
        full = np.asarray((block.present | ~reporting).all(axis=1))
        return set(rows_of(block, full).index.tolist())


def _since(news: dict[int, float], before: float) -> dict[int, float]:
    return {index: at for index, at in news.items() if at >= before}


def _reach(axis: str) -> int:
    return STEPS if axis == "step" else SECONDS


def _kept(logged: set[str]) -> set[str]:
    loss = loss_key(logged)
    return {*sorted(logged)[: MOST_VALUES - 1], *([loss] if loss else [])}
