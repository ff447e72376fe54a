"""Evaluates, then trains with the deep hook, with a hook of the script's own, and compiled."""

import sys

import paceline
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

EVALUATED, TRAINED = 20, 6

dist.init_process_group("gloo")


def net(**settings):
    torch.manual_seed(0)
    body = nn.Sequential(nn.Linear(8, 600), nn.ReLU(), nn.Linear(600, 600), nn.Linear(600, 1))
    model = DistributedDataParallel(body, **settings)
    return model, torch.optim.SGD(model.parameters(), 0.01)


def train(model, optimizer, name):
    torch.manual_seed(1 + dist.get_rank())
    for _ in range(TRAINED):
        loss = model(torch.randn(4, 8)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    dist.barrier()
    paceline.log({name: loss})
    print(name, dist.get_rank(), f"{loss.item():.6f}", flush=True)


model, optimizer = net()
with torch.no_grad():
    for batch in DataLoader(torch.randn(EVALUATED, 8), batch_size=1):
        model(batch)
train(*net(bucket_cap_mb=1), "deep")
own, own_optimizer = net()
own.register_comm_hook(None, fp16_compress_hook)
train(own, own_optimizer, "own hook")
compiled, compiled_optimizer = net()
train(torch.compile(compiled, backend="eager"), compiled_optimizer, "compiled")
dist.destroy_process_group()
sys.exit(0)
