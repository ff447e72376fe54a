"""One process, many kinds of training loop after each other; a logged mark stands between them."""

import sys
import time

import paceline
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter

STEPS = 12
SLOW_MS = 60

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)


class SlowBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        if rank == 1:
            time.sleep(SLOW_MS / 1000)
        return gradient


class Net(nn.Module):
    def __init__(self, slow=False, unused=False):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
        self.slow = slow
        self.spare = nn.Linear(4, 4) if unused else None

    def forward(self, x):
        out = self.body(x)
        return SlowBackward.apply(out) if self.slow else out


def net(**kind):
    model = DistributedDataParallel(Net(**kind), find_unused_parameters=bool(kind.get("unused")))
    return model, torch.optim.SGD(model.parameters(), 0.01)


def mark(name):
    dist.barrier()
    paceline.log({name: 1.0})


def plain():
    writer = SummaryWriter(sys.argv[1] + f"/{rank}")
    model, optimizer = net(slow=True)
    for step, batch in enumerate(DataLoader(torch.randn(STEPS * 8, 32), 8)):
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        paceline.log({"loss": loss, "nan": float("nan"), "inf": torch.tensor(float("-inf"))}, step=1000 + step)
        paceline.log({"text": "no number", f"only rank {rank}": step, "ключ/\n": 1})
        writer.add_scalar("board/loss", loss, step)
        writer.add_scalar(tag="board/named", scalar_value=0.5, global_step=step)
    writer.close()


def accumulate():
    model, optimizer = net()
    for _ in range(STEPS):
        with model.no_sync():
            for _ in range(3):
                model(torch.randn(8, 32)).sum().backward()
        model(torch.randn(8, 32)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def two_optimizers():
    (first, first_optimizer), (second, second_optimizer) = net(), net()
    for _ in range(STEPS):
        for model, optimizer in ((first, first_optimizer), (second, second_optimizer)):
            model(torch.randn(8, 32)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()


def unused():
    model, optimizer = net(unused=True)
    for _ in range(STEPS):
        model(torch.randn(8, 32)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def by_hand():
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(STEPS):
        model(torch.randn(8, 32)).sum().backward()
        if rank == 1:
            time.sleep(SLOW_MS / 1000)
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        dist.all_reduce(torch.ones(1), async_op=True).wait()
        optimizer.step()
        optimizer.zero_grad()


def closure():
    model = DistributedDataParallel(Net())
    optimizer = torch.optim.LBFGS(model.parameters(), 0.01, max_iter=3)
    batch = torch.randn(8, 32)

    def again():
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        return loss

    for _ in range(STEPS):
        optimizer.step(again)


def skipped():
    model, optimizer = net()
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    for step in range(STEPS):
        scaler.scale(model(torch.randn(8, 32)).sum() * (float("inf") if step == 5 else 1.0)).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def step_in_backward():
    model = DistributedDataParallel(Net())
    for parameter in model.parameters():
        optimizer = torch.optim.SGD([parameter], 0.01)
        parameter.register_post_accumulate_grad_hook(lambda _, optimizer=optimizer: optimizer.step())
    for _ in range(STEPS):
        model(torch.randn(8, 32)).sum().backward()


def sabotaged():
    model, optimizer = net()
    DistributedDataParallel._get_ddp_logging_data = property(lambda self: 1 / 0)
    for _ in range(STEPS):
        model(torch.randn(8, 32)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


for loop in (plain, accumulate, two_optimizers, unused, by_hand, closure, skipped, step_in_backward, sabotaged):
    mark(f"begin {loop.__name__}")
    loop()
    mark(f"end {loop.__name__}")
dist.destroy_process_group()
