"""New points into all levels of all metrics: pure, shared by compaction (which writes the result) and reading
(which lays it over what is stored, so that young data is in every view).

Level k exists once level k - 1 has more than one block, which the first and last index of a metric tell.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from webapp.telemetry import derive
from webapp.telemetry.blocks import Block, empty
from webapp.telemetry.merge import FACTOR, ROWS, Layout, cut, places, replaced, roll_up, span
from webapp.telemetry.points import Points

MAX_LEVEL = 6


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """One block of one metric."""

    name: str
    level: int
    block: int


@dataclass(frozen=True, slots=True)
class Newest:
    """All rows of one metric from index `since` on, up to where `block` ends; else as `Points`."""

    axis: str  # step | time
    columns: str  # rank | node
    dtype: str  # us | f8
    block: Block
    since: int


class Stored(Protocol):
    """What is there already."""

    def extent(self, name: str) -> tuple[int, int] | None:
        """First and last index of a metric, None when nothing is stored."""

    def blocks(self, keys: set[Key]) -> dict[Key, Block]:
        """Those of the blocks that exist."""


def advance(
    points: dict[str, Points], stored: Stored, world_size: int, newest: Mapping[str, Newest] | None = None
) -> dict[Key, Block]:
    """Every block that the points change, and then the newest rows, as it is after them."""
    dirty = _level_0(points, stored)
    dirty |= _of_newest(newest or {}, dirty, stored)
    dirty |= _derived(dirty, stored, world_size)
    above = dirty
    for level in range(1, MAX_LEVEL + 1):
        above = _level(level, above, stored, _extents(dirty, stored))
        if not above:
            break
        dirty |= above
    return dirty


def _level_0(points: dict[str, Points], stored: Stored) -> dict[Key, Block]:
    by_place: dict[tuple[int, int], list[tuple[str, Points]]] = defaultdict(list)
    for name, part in points.items():  # metrics of the same records share their columns
        by_place[id(part.rank), id(part.index)].append((name, part))
    made: dict[Key, Block] = {}
    for same in by_place.values():
        first = same[0][1]
        for number, at in places(first.index).items():
            layout = Layout(first.rank[at], first.index[at])
            known = stored.blocks({Key(name, 0, number) for name, _part in same})
            for name, part in same:
                key = Key(name, 0, number)
                made[key] = layout.put(known.get(key) or empty(), part.value[at])
    return made


def _of_newest(newest: Mapping[str, Newest], dirty: dict[Key, Block], stored: Stored) -> dict[Key, Block]:
    """The level 0 blocks in which the newest rows lie: read only where they begin in the middle of one."""
    made = {Key(name, 0, number): rows for name, some in newest.items() for number, rows in _in_blocks(some.block)}
    inside = {key for key in made if key.block * ROWS < newest[key.name].since}
    known = stored.blocks(inside - set(dirty)) | dirty
    for key in inside & set(known):
        made[key] = replaced(known[key], {(newest[key.name].since, (key.block + 1) * ROWS): made[key]})
    return made


def _in_blocks(block: Block) -> Iterator[tuple[int, Block]]:
    """The rows by the number of the level 0 block that they are in."""
    for number in np.unique(block.index // ROWS).tolist():
        yield number, cut(block, number * ROWS, (number + 1) * ROWS)


def _derived(dirty: dict[Key, Block], stored: Stored, world_size: int) -> dict[Key, Block]:
    wanted = {
        Key(name, 0, key.block) for name, sources in derive.SOURCES.items() for key in dirty if key.name in sources
    }
    needed = {Key(source, 0, key.block) for key in wanted for source in derive.SOURCES[key.name]}
    known = stored.blocks(needed - set(dirty)) | dirty
    made = {}
    for key in wanted:
        sources = [known.get(Key(source, 0, key.block)) for source in derive.SOURCES[key.name]]
        blocks = [block for block in sources if block is not None]
        if len(blocks) == len(sources):
            made[key] = derive.derived(key.name, blocks, world_size)
    return {key: block for key, block in made.items() if block.index.size or stored.extent(key.name)}


def _extents(dirty: dict[Key, Block], stored: Stored) -> dict[str, tuple[int, int]]:
    """First and last index of each touched metric with the new points in it."""
    found: dict[str, tuple[int, int]] = {}
    for key, block in dirty.items():
        if key.level == 0 and block.index.size:
            first, last = int(block.index[0]), int(block.index[-1])
            old = found.get(key.name) or stored.extent(key.name) or (first, last)
            found[key.name] = (min(old[0], first), max(old[1], last))
    return found


def _level(
    level: int, below: dict[Key, Block], stored: Stored, extents: dict[str, tuple[int, int]]
) -> dict[Key, Block]:
    children = _children(level, below, stored, extents)
    parents = {Key(key.name, level, key.block // FACTOR) for key in children}
    known = stored.blocks({key for key in children if key not in below} | parents)
    by: dict[Key, dict[tuple[int, int], Block]] = defaultdict(dict)
    for child in children:
        source = below.get(child) or known.get(child)
        if source is not None:
            lo = child.block * span(level - 1)
            rows = (lo, lo + span(level - 1))
            by[Key(child.name, level, child.block // FACTOR)][rows] = roll_up(source, level)
    return {key: replaced(known.get(key) or empty(rolled=True), by[key]) for key in parents}


def _children(level: int, below: dict[Key, Block], stored: Stored, extents: dict[str, tuple[int, int]]) -> set[Key]:
    """Blocks of the level below that must be rolled up: the changed ones, and all when this level is new."""
    changed: dict[str, set[Key]] = defaultdict(set)
    for key in below:
        changed[key.name].add(key)
    found: set[Key] = set()
    for name, keys in changed.items():
        if name not in extents or not exists(level, extents[name]):
            continue
        found |= keys
        old = stored.extent(name)
        if old is not None and not exists(level, old):
            found.add(Key(name, level - 1, old[0] // span(level - 1)))
    return found


def exists(level: int, extent: tuple[int, int]) -> bool:
    """Whether a metric from its first to its last index has this level: where the one below has several blocks."""
    return extent[0] // span(level - 1) != extent[1] // span(level - 1)
