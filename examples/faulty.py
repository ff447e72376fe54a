"""A small DDP script with something wrong in it. FAULT says what, in which rank, and from which step on.

    FAULT="backward:rank=1:ms=200:from=70" torchrun --nproc-per-node 2 examples/faulty.py --steps 200

Kinds: forward, backward, data, optimizer (slower by `ms`); exit, raise, oom-text, hang (once); nan (loss); chatty
(`lines` a step); ignore-sigterm. `rank` left out means every rank. Several faults are separated by commas.
"""

import argparse
import os
import signal
import sys
import time
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--step-ms", type=float, default=20.0, help="length of a healthy step")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    faults = Faults(os.environ.get("FAULT", ""), dist.get_rank())
    if faults.now("ignore-sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    model = DistributedDataParallel(Model(faults))
    optimizer = SlowSGD(model.parameters(), 0.01, faults)
    for step, batch in enumerate(DataLoader(Numbers(faults, args.steps), batch_size=None)):
        faults.step = step
        time.sleep(args.step_ms / 1000)
        loss = model(batch).square().mean() * (float("nan") if faults.now("nan") else 1.0)
        end_badly(faults)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step={step} loss={loss.item():.4f}", flush=True)
    dist.destroy_process_group()


@dataclass
class Fault:
    kind: str
    rank: int = -1
    ms: float = 200.0
    first: int = 0
    lines: int = 1000
    code: int = 3


class Faults:
    """Those of this rank. `step` is moved on by the training loop."""

    def __init__(self, text: str, rank: int) -> None:
        self.step = 0
        parsed = [parse(one) for one in text.split(",") if one]
        self._mine = {fault.kind: fault for fault in parsed if fault.rank in (-1, rank)}

    def now(self, kind: str) -> Fault | None:
        fault = self._mine.get(kind)
        return fault if fault and self.step >= fault.first else None

    def slow(self, kind: str) -> None:
        fault = self.now(kind)
        if fault:
            time.sleep(fault.ms / 1000)


def parse(text: str) -> Fault:
    kind, *settings = text.split(":")
    fault = Fault(kind)
    for setting in settings:
        word, _, value = setting.partition("=")
        name = "first" if word == "from" else word
        setattr(fault, name, type(getattr(fault, name))(value))
    return fault


def end_badly(faults: Faults) -> None:
    """Between forward and backward, so that the other ranks are left waiting."""
    if chatty := faults.now("chatty"):
        print("\n".join(f"chatty line {faults.step}-{i}" for i in range(chatty.lines)), flush=True)
    if leaving := faults.now("exit"):
        sys.exit(leaving.code)
    if faults.now("raise"):
        raise ValueError(f"a fault was asked for at step {faults.step}")
    if faults.now("oom-text"):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total of 79.10 GiB.")
    if faults.now("hang"):
        time.sleep(3600)


class Model(nn.Module):
    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self.faults = faults
        self.first = nn.Linear(64, 256)
        self.last = nn.Linear(256, 1)

    def forward(self, x: Tensor) -> Tensor:
        self.faults.slow("forward")
        return self.last(SlowBackward.apply(self.first(x).relu(), self.faults))


class SlowBackward(torch.autograd.Function):
    """Passes its input on; its gradient arrives late."""

    @staticmethod
    def forward(ctx, x: Tensor, faults: Faults) -> Tensor:
        ctx.faults = faults
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient: Tensor):
        ctx.faults.slow("backward")
        return gradient, None


class SlowSGD(torch.optim.SGD):
    def __init__(self, parameters, lr: float, faults: Faults) -> None:
        super().__init__(parameters, lr)
        self.faults = faults

    def step(self, closure=None):
        self.faults.slow("optimizer")
        return super().step(closure)


class Numbers(Dataset):
    def __init__(self, faults: Faults, steps: int) -> None:
        self.faults, self.steps = faults, steps

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, index: int) -> Tensor:
        self.faults.slow("data")
        return torch.randn(32, 64)


if __name__ == "__main__":
    main()
