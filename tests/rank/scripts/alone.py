"""One process, no torch.distributed: DataLoader workers that log, a forked child that trains, exit code 7."""

import importlib.util
import os
import sys

import paceline
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        paceline.log({"from a worker": index})
        return torch.full((8,), float(index))


def train(steps, batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for _, batch in zip(range(steps), batches, strict=False):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()


def main():
    print("importable:", [name for name in ("webapp", "workers", "manage") if importlib.util.find_spec(name)])
    print("chained:", os.environ.get("CHAINED"), sys.modules["sitecustomize"].__file__)
    workers = {} if "--no-workers" in sys.argv else {"num_workers": 1, "multiprocessing_context": "spawn"}
    loader = DataLoader(Numbers(), 8, persistent_workers=bool(workers), **workers)
    for _ in range(2):
        train(6, loader)
    if os.fork() == 0:
        paceline.log({"from a child": 1})
        train(3, iter([torch.ones(8)] * 3))
        os._exit(0)
    os.wait()
    paceline.log({"from the rank": 1})
    sys.exit(7)


if __name__ == "__main__":
    main()
