"""A rank of an all-reduce: its time by CUDA events, as the probe takes it, against its bus bandwidth."""

import json
import os
import sys
import time
from typing import Any

import torch
import torch.distributed as dist

ROUNDS, WARM_UP = 20, 5


def main() -> None:
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    found = [measure(megabytes, size) for megabytes in map(int, sys.argv[1:])]
    if rank == 0:
        print(json.dumps(found), flush=True)
    dist.destroy_process_group()


def measure(megabytes: int, size: int) -> dict[str, Any]:
    """`events_ms` and `wall_ms` of one all-reduce; GB/s as nccl-tests has it: algbw = bytes / time, busbw = algbw *
    2 (n - 1) / n."""
    tensor = torch.ones(megabytes * 1_000_000 // 4, device="cuda")
    for _ in range(WARM_UP):
        dist.all_reduce(tensor)
    torch.cuda.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    began = time.perf_counter()
    start.record()
    for _ in range(ROUNDS):
        dist.all_reduce(tensor)
    end.record()
    torch.cuda.synchronize()
    wall, events = 1e3 * (time.perf_counter() - began) / ROUNDS, start.elapsed_time(end) / ROUNDS
    algbw = megabytes / events
    return {
        "MB": megabytes,
        "events_ms": events,
        "wall_ms": wall,
        "algbw": algbw,
        "busbw": algbw * 2 * (size - 1) / size,
    }


if __name__ == "__main__":
    main()
