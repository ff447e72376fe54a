"""A small DDP script that keeps a book of its own about what it did: the truth for all that Paceline stores.

    torchrun --nproc-per-node 2 benchmarks/faults/train.py --book DIR --steps 300 --step-ms 20

The book of a rank is `DIR/<run>.<attempt>.rank<r>`, one line a thing, written at once: `i 7` step 7 begins,
`s 7 0.125` it is done, has been printed and its value logged, `e 0` the script ends with this code. SIGTERM: the
running step is finished, then the script ends.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

import paceline
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

stop_asked: list[int] = []


def main() -> int:
    args = arguments()
    signal.signal(signal.SIGTERM, lambda number, _frame: stop_asked.append(number))
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    book = open_book(args.book, rank)
    dist.init_process_group("gloo")
    troubled = rank == args.trouble_rank and os.environ.get("PACELINE_ATTEMPT_NUMBER") == "1"
    try:
        code = train(args, rank, book, args.trouble if troubled else "")
    except RuntimeError as error:  # the others are gone
        print(f"ends without the others: {str(error)[:80]!r}", file=sys.stderr)
        code = 0 if stop_asked else 1
    note(book, f"e {code}")
    return code


def train(args: argparse.Namespace, rank: int, book: int, trouble: str) -> int:
    """Until all steps are done, a stop is asked for, or the trouble comes. The exit code."""
    model = DistributedDataParallel(nn.Linear(64, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(args.steps):
        began = time.perf_counter()
        note(book, f"i {step}")
        one_step(model, optimizer)
        value = value_of(rank, step)
        paceline.log({"truth": value}, step=step)
        print(f"step {step} of rank {rank} is {value!r}", flush=True)
        note(book, f"s {step} {value!r}")
        if step == args.trouble_step and trouble == "exit":
            return 3
        if step == args.trouble_step and trouble == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if stop_asked:
            return 0
        time.sleep(max(0.0, args.step_ms / 1000 - (time.perf_counter() - began)))
    return 0


def one_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.ones(4, 64)).square().mean().backward()
    optimizer.step()


def value_of(rank: int, step: int) -> float:
    """Different for every rank and step, and exact in a double."""
    return step * 16 + rank + 0.125


def open_book(folder: Path, rank: int) -> int:
    name = f"{os.environ['PACELINE_RUN']}.{os.environ['PACELINE_ATTEMPT_NUMBER']}.rank{rank}"
    return os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def note(book: int, line: str) -> None:
    os.write(book, f"{line}\n".encode())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--book", type=Path, required=True, help="folder of the books")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--step-ms", type=float, default=20)
    parser.add_argument("--trouble", choices=["", "exit", "kill"], default="", help="in the first attempt only")
    parser.add_argument("--trouble-rank", type=int, default=-1)
    parser.add_argument("--trouble-step", type=int, default=-1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
