"""Tables made to order: a data-parallel job whose every number is known."""

from collections.abc import Callable

import numpy as np

from workers.detect.table import PARTS, Table

USUAL = {"data": 0.010, "forward": 0.030, "backward": 0.045, "optimizer": 0.005, "other": 0.002}
TRANSFER = 0.008

Change = Callable[[dict[str, np.ndarray]], None]


def table(
    *,
    ranks: int = 8,
    steps: int = 120,
    nodes: int = 2,
    seed: int = 0,
    noise: float = 0.02,
    transfer: float | np.ndarray = TRANSFER,
    change: Change = lambda parts: None,
) -> Table:
    """Every rank works for about 92 ms, waits for the latest, and all transfer for 8 ms.

    `noise`: relative, of each part. `change` may alter the parts, each steps x ranks.
    """
    random = np.random.default_rng(seed)
    parts = {
        part: usual * (1 + noise * np.abs(random.standard_normal((steps, ranks)))) for part, usual in USUAL.items()
    }
    change(parts)
    local = np.sum([parts[part] for part in PARTS], axis=0)
    end = local.max(axis=1, keepdims=True) + np.broadcast_to(transfer, (steps,))[:, None]
    exposed = end - local
    return Table(
        np.arange(steps),
        np.arange(ranks),
        np.arange(ranks) // max(1, ranks // nodes),
        np.asarray(local + exposed),
        exposed,
        parts,
    )
