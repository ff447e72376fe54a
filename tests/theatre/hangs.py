"""Two ranks train a small model with DDP. `hangs.py sleep`: rank 1 falls asleep before a backward."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = int(os.environ["RANK"])
model = DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def think_long() -> None:
    time.sleep(600)


for step in range(100_000):
    loss = model(torch.ones(4, 8)).sum()
    if step == 40 and rank == 1 and sys.argv[1:] == ["sleep"]:
        think_long()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"rank {rank} step {step}", flush=True)
    time.sleep(0.02)
