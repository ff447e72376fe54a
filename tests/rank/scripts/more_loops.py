"""Loops of two ranks of which rank 1 sleeps in its forward, its backward and its optimizer, for other times in each."""

import time

import paceline
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

STEPS = 8
FORWARD_MS, BACKWARD_MS, OPTIMIZER_MS = 20, 40, 30

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)


def pause(ms):
    if rank == 1:
        time.sleep(ms / 1000)


class SlowBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        pause(BACKWARD_MS)
        return gradient


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))

    def forward(self, x):
        pause(FORWARD_MS)
        return SlowBackward.apply(self.body(x))


class SlowSGD(torch.optim.SGD):
    def step(self, closure=None):
        pause(OPTIMIZER_MS)
        return super().step(closure)


def train(model, optimizers=None, *, scaler=None, autocast=False):
    optimizers = optimizers or [SlowSGD(model.parameters(), 0.01)]
    for _ in range(STEPS):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = model(torch.randn(8, 32)).float().square().mean()
        (scaler.scale(loss) if scaler else loss).backward()
        for optimizer in optimizers:
            scaler.step(optimizer) if scaler else optimizer.step()
            optimizer.zero_grad()
        if scaler:
            scaler.update()


def mixed_precision():
    train(DistributedDataParallel(Net()), scaler=torch.amp.GradScaler("cpu", init_scale=8.0), autocast=True)


def static_graph():
    train(DistributedDataParallel(Net(), static_graph=True))


def own_hook():
    model = DistributedDataParallel(Net())
    model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    train(model)


def optimizers_of_parts():
    model = DistributedDataParallel(Net())
    first, last = model.module.body[0].parameters(), model.module.body[2].parameters()
    train(model, [SlowSGD(first, 0.01), torch.optim.SGD(last, 0.01)])


def compiled():
    train(torch.compile(DistributedDataParallel(Net()), backend="eager"))


def sharded():
    model = Net()
    for layer in (model.body[0], model.body[2], model):
        fully_shard(layer)
    train(model)


for loop in (mixed_precision, static_graph, own_hook, optimizers_of_parts, compiled, sharded):
    dist.barrier()
    paceline.log({f"begin {loop.__name__}": 1.0})
    loop()
    dist.barrier()
    paceline.log({f"end {loop.__name__}": 1.0})
dist.destroy_process_group()
