"""Metrics that need several ranks or several sources at once, computed from level 0 blocks. Pure.

Over the ranks of one step: transfer is what the rank pays that waits least, so the rest of every rank's exposed
communication is waiting. A step that lacks a rank is left out: its minimum would be a lie.
"""

import numpy as np

from webapp.telemetry.blocks import Block
from webapp.telemetry.merge import rows_of
from webapp.telemetry.points import BUSBW, COMM_BYTES, COMM_TOTAL, EXPOSED, TRANSFER, WAIT

SOURCES = {TRANSFER: (EXPOSED,), WAIT: (EXPOSED,), BUSBW: (COMM_TOTAL, COMM_BYTES)}
DTYPE = {TRANSFER: "us", WAIT: "us", BUSBW: "f8"}


def derived(name: str, sources: list[Block], world_size: int) -> Block:
    """The block of a derived metric from the blocks of its SOURCES, in their order."""
    if name == BUSBW:
        return bus_bandwidth(sources[0], sources[1], world_size)
    return transfer(sources[0]) if name == TRANSFER else wait(sources[0])


def transfer(exposed: Block) -> Block:
    """Seconds, one column: the minimum over the ranks of a step."""
    full = _complete(exposed)
    return _single(full, full.values.min(axis=1) if full.columns.size else np.zeros(0))


def wait(exposed: Block) -> Block:
    """Seconds, a column per rank: what it spent waiting for the last one."""
    full = _complete(exposed)
    if not full.columns.size:
        return full
    least = full.values.min(axis=1, keepdims=True)
    return Block(full.index, full.columns, np.rint((full.values - least) * 1e6) / 1e6, full.present)


def bus_bandwidth(total: Block, nbytes: Block, world_size: int) -> Block:
    """Bytes per second, one column: 2 (n - 1) / n x bytes / communication time of the rank that waits least."""
    times, sizes = _complete(total), _complete(nbytes)
    index, at_time, at_size = np.intersect1d(times.index, sizes.index, assume_unique=True, return_indices=True)
    if not index.size or not np.array_equal(times.columns, sizes.columns):
        return _single(rows_of(times, slice(0, 0)), np.zeros(0))
    least = times.values[at_time].argmin(axis=1)
    row = np.arange(index.size)
    seconds, size = times.values[at_time][row, least], sizes.values[at_size][row, least]
    good = (seconds > 0) & (size > 0)
    factor = 2 * (world_size - 1) / max(world_size, 1)
    return _single(rows_of(times, at_time[good]), factor * size[good] / seconds[good])


def _complete(block: Block) -> Block:
    return rows_of(block, np.asarray(block.present.all(axis=1)))


def _single(rows: Block, values: np.ndarray) -> Block:
    shape = (rows.index.size, 1)
    return Block(rows.index, np.zeros(1, np.int64), values.reshape(shape), np.ones(shape, dtype=bool))
