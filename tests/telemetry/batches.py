"""Wire batches for tests."""

import time
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from trainer_agent.wire import codec
from trainer_agent.wire.messages import WIRE_VERSION, Batch, SampleColumns, StepColumns, ValueColumns
from trainer_agent.wire.record import MISSING_US
from webapp.runs.models import Attempt
from webapp.telemetry.models import Tail

PHASES = ("data", "forward", "backward", "exposed_comm", "optimizer", "other")


def steps(
    ranks: Sequence[int],
    numbers: Iterable[int],
    *,
    slow: dict[int, int] | None = None,
    most: int | None = None,
    end: float = 1_000.0,
    nbytes: float = 4e6,
) -> StepColumns:
    """Each rank at each step: backward takes 50 ms (+ `slow[rank]` ms), all wait for the slowest, `most` ms."""
    late = slow or {}
    most = max([late.get(r, 0) for r in ranks] or [0]) if most is None else most
    rank, step = (a.ravel() for a in np.meshgrid(np.array(ranks), np.array(list(numbers)), indexing="xy"))
    extra = np.array([late.get(int(r), 0) * 1000 for r in rank])
    us = {
        "data": np.full(rank.size, 2_000),
        "forward": np.full(rank.size, 20_000),
        "backward": 50_000 + extra,
        "exposed_comm": 5_000 + most * 1000 - extra,
        "optimizer": np.full(rank.size, 3_000),
        "other": np.full(rank.size, MISSING_US),
    }
    us["step"] = us["data"] + us["forward"] + us["backward"] + us["exposed_comm"] + us["optimizer"]
    columns = {f"phase/{name}": column.astype("<u4").tobytes() for name, column in us.items()}
    columns["comm/total"] = (us["exposed_comm"] + 5_000).astype("<u4").tobytes()
    return StepColumns(
        n=rank.size,
        rank=rank.astype("<u4").tobytes(),
        step=step.astype("<i8").tobytes(),
        end=(end + step * 0.08).astype("<f8").tobytes(),
        columns=columns,
        nbytes=np.full(rank.size, nbytes, dtype="<f8").tobytes(),
    )


def values(key: str, rank: int, points: dict[int, float]) -> ValueColumns:
    return ValueColumns(
        key=key,
        n=len(points),
        rank=np.full(len(points), rank, dtype="<u4").tobytes(),
        step=np.array(list(points), dtype="<i8").tobytes(),
        time=np.full(len(points), time.time()).tobytes(),
        value=np.array(list(points.values()), dtype="<f8").tobytes(),
    )


def samples(metric: str, rank: int, points: Mapping[int, float] | Mapping[float, float]) -> SampleColumns:
    return SampleColumns(
        metric=metric,
        n=len(points),
        rank=np.full(len(points), rank, dtype="<u4").tobytes(),
        time=np.array(list(points), dtype="<f8").tobytes(),
        value=np.array(list(points.values()), dtype="<f8").tobytes(),
    )


def batch(attempt: int, node: str, seq: int, **content) -> Batch:
    return Batch(v=WIRE_VERSION, attempt=attempt, node=node, seq=seq, sent_at=time.time(), **content)


def tail(attempt: Attempt, seq: int, node_rank: int = 0, **content) -> Tail:
    """A stored tail row, as ingest writes it."""
    message = batch(attempt.pk, f"node{node_rank}", seq, **content)
    return Tail.objects.create(attempt=attempt, node_rank=node_rank, seq=seq, payload=codec.encode(message))
