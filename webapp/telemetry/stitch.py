"""The attempts of a run as one line: the main line follows the newest, what it did again is a ghost. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from webapp.telemetry.blocks import Block, empty
from webapp.telemetry.merge import joined, roll_up, rows_of

Span = tuple[int, int]  # first and last step


@dataclass(frozen=True, slots=True)
class Piece:
    """What of an attempt's steps is on the main line, and what a later attempt did again. None: nothing."""

    number: int
    main: Span | None
    ghost: Span | None


def cut_of(number: int, spans: Iterable[tuple[int, int, int]]) -> int | None:
    """The first step that an attempt after this one did, None if none did any. `spans`: see `pieces`."""
    return min((first for later, first, _last in spans if later > number), default=None)


def pieces(spans: Sequence[tuple[int, int, int]]) -> list[Piece]:
    """`spans`: (number, first step, last step) of the attempts that made steps. One piece each, by number."""
    found = []
    for number, first, last in sorted(spans):
        cut = cut_of(number, spans)
        stands = last if cut is None else min(last, cut - 1)
        main = (first, stands) if first <= stands else None
        found.append(Piece(number, main, (max(first, stands + 1), last) if stands < last else None))
    return found


def laid_over(blocks: Sequence[Block], level: int) -> tuple[Block, list[Block]]:
    """Blocks of one level, oldest attempt first, as one; and of each what a newer one has at the same index.

    Roll-ups of the same stretch are put together, since they hold different steps of it.
    """
    if level:
        whole = _sorted(blocks, rolled=True)
        return (roll_up(whole, level) if _repeats(whole) else whole), [empty(rolled=True) for _ in blocks]
    if len(blocks) == 1:
        return _sorted(blocks, rolled=False), [empty()]
    seen = np.zeros(0, np.int64)
    stands: list[Block] = []
    hidden: list[Block] = []
    for block in reversed(blocks):
        again = np.isin(block.index, seen)
        stands.append(rows_of(block, ~again))
        hidden.append(rows_of(block, again))
        seen = np.union1d(seen, block.index)
    return _sorted(stands[::-1], rolled=False), hidden[::-1]


def _sorted(blocks: Iterable[Block], rolled: bool) -> Block:
    whole = joined(list(blocks))
    if not whole.index.size:
        return empty(rolled)
    if bool(np.all(np.diff(whole.index) > 0)):
        return whole
    return rows_of(whole, np.argsort(whole.index, kind="stable"))


def _repeats(block: Block) -> bool:
    return bool(np.any(np.diff(block.index) == 0))
