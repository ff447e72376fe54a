"""Two ranks train a small model with DDP. One that gets SIGUSR2 falls asleep before its next backward.

SIGUSR1 has it wait in the kernel like for a dead disk: the parent of a vfork is in state D for as long as its child,
which has the parent's memory, does neither end nor become another program.
"""

import ctypes
import os
import signal
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


def wait_for_disk() -> None:
    libc, dies_with_its_parent = ctypes.CDLL(None), 1
    if libc.vfork() == 0:
        libc.prctl(dies_with_its_parent, signal.SIGKILL)
        while True:
            libc.pause()


sleepy: list[int] = []
signal.signal(signal.SIGUSR1, lambda _number, _frame: wait_for_disk())
signal.signal(signal.SIGUSR2, lambda number, _frame: sleepy.append(number))


for step in range(100_000):
    loss = model(torch.ones(4, 8)).sum()
    if sleepy:
        think_long()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"rank {rank} step {step}", flush=True)
    time.sleep(0.02)
