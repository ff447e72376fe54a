"""A rank that trains with the probe on a GPU: what the probe's events say against a device that is waited for."""

import json
import sys
import time
from itertools import pairwise

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS, WIDTH, LAYERS, BATCH = 60, 4096, 8, 2048


def main() -> None:
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", init_method=f"file://{sys.argv[1]}", rank=0, world_size=1)
    model = DistributedDataParallel(nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))).cuda())
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    ends = []
    for _ in range(STEPS):
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()  # the check's own, so that its clock sees the device; the probe never waits
        ends.append(time.perf_counter())
    print(json.dumps([1e3 * (after - before) for before, after in pairwise(ends)]), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
