"""A rank that trains in blocks of steps when it is told to on stdin, and answers in JSON.

`block <steps> <ms>`: seconds of each step. `cost <steps> <ms>`: of each step the microseconds in the probe's hooks, by
the probe's clock. Where a real rank computes, this one sleeps, which is the steadiest work there is, and then computes
for about a millisecond, so that the probe's hooks do not find a processor that has just woken up.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

LAYERS, WIDTH, BATCH = 8, 64, 8
SIDE, ROUNDS = 128, 16  # of the matrices that are multiplied, and how often
SHARES = {"forward": 0.35, "backward": 0.5, "between": 0.15}  # of the step's sleep


class Work:
    """As long as a step's part takes."""

    seconds = 0.0
    _matrix = torch.rand(SIDE, SIDE)
    _out = torch.empty(SIDE, SIDE)

    @classmethod
    def do(cls, part: str) -> None:
        time.sleep(cls.seconds * SHARES[part])
        for _ in range(ROUNDS):
            torch.mm(cls._matrix, cls._matrix, out=cls._out)


class Working(torch.autograd.Function):
    """Passes on what it gets, after its share of the step."""

    @staticmethod
    def forward(_ctx: Any, x: Tensor) -> Tensor:
        Work.do("forward")
        return x.view_as(x)

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> Tensor:
        Work.do("backward")
        return gradient


class Net(nn.Module):
    """A few small layers, in several buckets."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)))

    def forward(self, x: Tensor) -> Tensor:
        worked: Tensor = Working.apply(self.body(x))
        return worked


class Numbers(Dataset[Tensor]):
    """Without an end."""

    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, index: int) -> Tensor:
        return torch.zeros(BATCH, WIDTH)


class Training:
    """The loop, step by step."""

    def __init__(self) -> None:
        self.model = DistributedDataParallel(Net(), bucket_cap_mb=0.05)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01)
        self.batches: Iterator[Tensor] = iter(DataLoader(Numbers(), batch_size=None))

    def block(self, steps: int, ms: int) -> list[float]:
        """Seconds of each step."""
        Work.seconds = ms / 1_000
        took = []
        for _ in range(steps):
            began = time.perf_counter()
            self._step()
            took.append(time.perf_counter() - began)
        return took

    def cost(self, steps: int, ms: int) -> list[float]:
        """Microseconds of each step in the probe's hooks. Every step is timed, instead of one of many."""
        from trainer_agent.rank import arm

        probe = arm.armed()
        assert probe is not None
        probe.cost.due, probe.guard.timed = sys.maxsize, True
        self.block(1, ms)
        spent = [probe.guard.spent_ns]
        for _ in range(steps):
            self.block(1, ms)
            spent.append(probe.guard.spent_ns)
        return [(after - before) / 1_000 for before, after in pairwise(spent)]

    def _step(self) -> None:
        loss = self.model(next(self.batches)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        Work.do("between")


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}", rank=0, world_size=1)
    training = Training()
    print(json.dumps(os.getpid()), flush=True)
    for line in sys.stdin:
        what, steps, ms = line.split()
        ask = training.cost if what == "cost" else training.block
        print(json.dumps(ask(int(steps), int(ms))), flush=True)


if __name__ == "__main__":
    main()
