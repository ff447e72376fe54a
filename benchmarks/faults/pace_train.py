"""DDP steps of about ten milliseconds without a rest, in turns: timed by the script itself, when the bench says go.

For the file `DIR/<n>.<arm>.go` each rank makes its steps and writes their seconds to `DIR/<n>.<arm>.rank<r>`; the file
`DIR/end` ends it with exit code 7.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

EXIT_CODE = 7
WARM_UP = 10  # steps of a turn that are not timed: the other one had the caches


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=Path, required=True)
    parser.add_argument("--arm", required=True)
    parser.add_argument("--steps", type=int, default=60)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    model = DistributedDataParallel(nn.Sequential(*[nn.Linear(384, 384) for _ in range(6)]))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    turn = 0
    while True:
        go, mine = (asked.turns / f"{turn}.{asked.arm}.{what}" for what in ("go", f"rank{dist.get_rank()}"))
        while not go.exists():
            if (asked.turns / "end").exists():
                return EXIT_CODE
            time.sleep(0.02)
        dist.barrier()
        seconds = [one_step(model, optimizer) for _ in range(WARM_UP + asked.steps)]
        draft = mine.with_suffix(".draft" + mine.suffix)
        draft.write_text(json.dumps(seconds[WARM_UP:]))
        os.replace(draft, mine)
        turn += 1


def one_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> float:
    """Its seconds."""
    began = time.perf_counter()
    optimizer.zero_grad()
    model(torch.ones(128, 384)).square().mean().backward()
    optimizer.step()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
