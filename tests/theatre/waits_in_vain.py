"""Rank 0 waits in an all-reduce for rank 1, which does not come."""

import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=2))
if os.environ["RANK"] == "0":
    dist.all_reduce(torch.ones(1))
time.sleep(300)
