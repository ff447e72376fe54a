"""A small DDP training on CPUs whose compute sleeps, with faults on order. Nothing is downloaded.

    FAULT="backward:rank=1:ms=200:from=70" torchrun --nproc-per-node 4 examples/faulty.py --steps 200

A healthy step takes about 100 ms: data 5, forward 30, backward 45, optimizer 5, the rest is the all-reduce of a model
of 2 MB. Since compute sleeps, eight ranks fit on two cores. FAULT holds faults, separated by semicolons:

    kind[:rank=R][:ms=200][:from=K][:to=L][:every=N]      steps K to L - 1, every N-th of them, all ranks without R

forward backward data optimizer other   that part takes `ms` longer; `other` is between two steps
wander      the data of another rank in each step                all   the forward of every rank, whatever `rank` says
eval checkpoint   something else for `ms` after every `every`-th step, on all ranks or on the one of `rank`
hang        sleeps before the step's collectives for an hour     spin_gil   burns the CPU and holds the interpreter
skip        leaves a collective out (there is one in each step)  mismatch   takes part in it with another size
crash exit raise oom-text   ends there: by SIGABRT, with code 3, with an error, out of memory
nan         the loss is not a number                             chatty     a thousand lines a step
ignore-sigterm   from the start

Also by environment: STEPS, STEP_MS (scales all parts), MODEL_MB. Values go to `paceline.log`, if that is there.
"""

import argparse
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

paceline = None
with contextlib.suppress(ImportError):
    import paceline

USUAL_MS = {"data": 5.0, "forward": 30.0, "backward": 45.0, "optimizer": 5.0, "other": 0.0}
USUAL_STEP_MS = 100.0
LAYERS = 4
PHASES = ("eval", "checkpoint")
ENDINGS = ("crash", "exit", "raise", "oom-text")
KINDS = (*USUAL_MS, "wander", "all", *PHASES, "hang", "spin_gil", "skip", "mismatch", *ENDINGS)
KINDS = (*KINDS, "nan", "chatty", "ignore-sigterm")


def main() -> None:
    args = arguments()
    torch.set_num_threads(1)
    faults = Faults(os.environ.get("FAULT", ""), args.step_ms / USUAL_STEP_MS)
    dist.init_process_group("gloo")
    faults.rank, faults.ranks = dist.get_rank(), dist.get_world_size()
    if faults.now("ignore-sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    torch.manual_seed(0)
    width = int((args.model_mb * 1e6 / 4 / LAYERS) ** 0.5)
    model = DistributedDataParallel(Model(width, faults))
    optimizer = SlowSGD(model.parameters(), 0.01, faults)
    for step, batch in enumerate(DataLoader(Numbers(width, args.steps, faults), batch_size=None)):
        loss = train_step(model, optimizer, batch, faults)
        print(f"step={step} loss={loss:.4f}", flush=True)
        if paceline is not None:
            paceline.log({"loss": loss, "clock": time.time()}, step=step)
        between_steps(faults)
    dist.destroy_process_group()


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: Tensor, faults: "Faults") -> float:
    loss = model(batch).square().mean() * (float("nan") if faults.now("nan") else 1.0)
    end_badly(faults)
    stand_still(faults)
    optimizer.zero_grad()
    loss.backward()
    gather(loss.detach(), faults)
    optimizer.step()
    return float(loss)


def between_steps(faults: "Faults") -> None:
    faults.work("other")
    for phase in PHASES:
        if found := faults.now(phase):
            time.sleep(found.ms / 1000)
    if faults.now("chatty"):
        print("\n".join(f"chatty line {faults.step}-{number}" for number in range(1000)), flush=True)


def gather(loss: Tensor, faults: "Faults") -> None:
    """The loss of each rank. A collective unlike those of DDP: none of theirs takes the place of a skipped one."""
    if faults.now("skip"):
        return
    mine = torch.full((64_000,), float(loss)) if faults.now("mismatch") else loss.reshape(1)
    dist.all_gather([torch.empty_like(mine) for _ in range(faults.ranks)], mine)


def stand_still(faults: "Faults") -> None:
    if faults.now("hang"):
        time.sleep(3600)
    if faults.now("spin_gil"):
        sum(range(10**15))  # one call of C code, which gives the interpreter to no other thread


def end_badly(faults: "Faults") -> None:
    """Between forward and backward, so that the other ranks are left waiting."""
    if faults.now("crash"):
        os.abort()
    if faults.now("exit"):
        sys.exit(3)
    if faults.now("raise"):
        raise ValueError(f"a fault was asked for at step {faults.step}")
    if faults.now("oom-text"):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total of 79.10 GiB.")


@dataclass(frozen=True)
class Fault:
    kind: str
    rank: int | None = None
    ms: float = 200.0
    first: int = 0
    end: int | None = None
    every: int = 1

    def is_in(self, step: int) -> bool:
        """Phases follow the last of `every` steps; of all else the first is meant."""
        number = step - self.first
        when = self.every - 1 if self.kind in PHASES else 0
        return number >= 0 and (self.end is None or step < self.end) and number % self.every == when


class Faults:
    """Those of FAULT for this rank. `step` is moved on by the loader, which every step begins with."""

    def __init__(self, text: str, scale: float) -> None:
        self._all = [parse(one.strip()) for one in text.split(";") if one.strip()]
        self._scale = scale
        self.step, self.rank, self.ranks = 0, 0, 1

    def now(self, kind: str) -> Fault | None:
        """The fault of that kind that this rank has in this step."""
        return next((one for one in self._all if one.kind == kind and one.is_in(self.step) and self._meets(one)), None)

    def work(self, part: str, share: float = 1.0) -> None:
        """Sleep for this part of the step, or for a share of it."""
        kinds = [part, *{"data": ["wander"], "forward": ["all"]}.get(part, [])]
        more = sum(found.ms for kind in kinds if (found := self.now(kind)))
        time.sleep(share * (USUAL_MS[part] * self._scale + more) / 1000)

    def _meets(self, fault: Fault) -> bool:
        if fault.kind == "wander":
            return (self.step * 7919 // 3) % self.ranks == self.rank
        return fault.kind == "all" or fault.rank in (None, self.rank)


def parse(text: str) -> Fault:
    """One fault; ends the script with a sentence when it cannot be read."""
    kind, *settings = text.split(":")
    if kind not in KINDS:
        sys.exit(f"FAULT knows no kind “{kind}”. There are: {', '.join(KINDS)}.")
    names = {"rank": ("rank", int), "ms": ("ms", float), "from": ("first", int), "to": ("end", int)}
    names["every"] = ("every", int)
    values = {}
    for setting in settings:
        word, _, value = setting.partition("=")
        name, read = names.get(word, ("", str))
        try:
            values[name] = read(value)
        except ValueError:
            name = ""
        if not name or values[name] < (1 if name == "every" else 0):
            sys.exit(f"FAULT cannot read “{setting}” in “{text}”. A fault is kind:rank=1:ms=200:from=70:to=90:every=5.")
    return Fault(kind, **values)


class Model(nn.Module):
    """Layers that sleep as if they computed, forward and backward."""

    def __init__(self, width: int, faults: Faults) -> None:
        super().__init__()
        self.faults = faults
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(LAYERS))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            self.faults.work("forward", 1 / LAYERS)
            x = SlowBackward.apply(layer(x).tanh(), self.faults)
        return x


class SlowBackward(torch.autograd.Function):
    """Passes its input on; its gradient arrives late."""

    @staticmethod
    def forward(ctx, x: Tensor, faults: Faults) -> Tensor:
        ctx.faults = faults
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient: Tensor):
        ctx.faults.work("backward", 1 / LAYERS)
        return gradient, None


class SlowSGD(torch.optim.SGD):
    def __init__(self, parameters: Iterator[nn.Parameter], lr: float, faults: Faults) -> None:
        super().__init__(parameters, lr)
        self.faults = faults

    def step(self, closure=None):
        self.faults.work("optimizer")
        return super().step(closure)


class Numbers(Dataset):
    def __init__(self, width: int, steps: int, faults: Faults) -> None:
        self.width, self.steps, self.faults = width, steps, faults

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, index: int) -> Tensor:
        self.faults.step = index
        self.faults.work("data")
        return torch.randn(8, self.width)


def arguments() -> argparse.Namespace:
    def asked(name: str, usual: float) -> float:
        return float(os.environ.get(name, usual))

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=int(asked("STEPS", 100)))
    parser.add_argument("--step-ms", type=float, default=asked("STEP_MS", USUAL_STEP_MS), help="of a healthy step")
    parser.add_argument("--model-mb", type=float, default=asked("MODEL_MB", 2.0))
    return parser.parse_args()


if __name__ == "__main__":
    main()
