"""The median rank of a block, kept beside it, so that a chart of the median need not unpack every rank. Pure."""

import numpy as np

from trainer_agent.wire.messages import METRIC_OF_PHASE
from webapp.telemetry.blocks import Block, Floats, Rolled, encode
from webapp.telemetry.points import COMM_TOTAL, STEP, WAIT
from webapp.telemetry.spread import median

NAMES = frozenset(METRIC_OF_PHASE.values()) - {STEP, COMM_TOTAL} | {WAIT}  # of which charts show the median rank alone
MANY = 64  # ranks; fewer are unpacked as quickly


def middle(block: Block) -> Block:
    """One column, of each row the median over the ranks; of a roll-up also of their least and greatest values.

    The column's number is how many ranks there are.
    """
    rolled, present = block.rolled, block.present
    some = np.asarray(present.any(axis=1, keepdims=True))
    more = None
    if rolled is not None:
        counts = rolled.counts.sum(axis=1, keepdims=True)
        bad = np.asarray((rolled.bad & present).any(axis=1, keepdims=True))
        more = Rolled(_median(rolled.mins, block), _median(rolled.maxs, block), counts, bad)
    return Block(block.index, np.array([block.columns.size]), _median(block.values, block), some, more)


def kept(name: str, block: Block) -> bytes | None:
    """The bytes that stand beside a block of this metric; None where there are none."""
    return encode(middle(block), "us") if name in NAMES and block.columns.size >= MANY else None


def _median(values: Floats, block: Block) -> Floats:
    known = values if bool(block.present.all()) else np.where(block.present, values, np.nan)
    return median(known, 1)[:, None]
