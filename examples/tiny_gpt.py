"""A small character GPT, trained with DDP on the source files of Python's standard library. Nothing is downloaded.

    torchrun --nproc-per-node 2 examples/tiny_gpt.py --steps 300

It knows nothing of Paceline except one optional line: `paceline.log` shows loss and learning rate, if it is there.
"""

import argparse
import contextlib
import math
import os
import signal
import sysconfig
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, RandomSampler

paceline = None
with contextlib.suppress(ImportError):
    import paceline

LETTERS = 128  # ASCII; anything else reads as "?"
CONTEXT = 64


def main() -> None:
    args = arguments()
    stop_wanted: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stop_wanted.append(number))
    device = device_of(args.device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(TinyGPT().to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    first = load(model, optimizer, device)
    batches = windows(first, args)
    for step, batch in zip(range(first, args.steps), batches, strict=False):
        began = time.perf_counter()
        lr = optimizer.param_groups[0]["lr"] = args.lr * warm_cosine(step, args.steps)
        loss = train_step(model, optimizer, batch.to(device))
        if step % args.log_every == 0 or step == args.steps - 1:
            print(f"step={step} loss={loss.item():.4f} lr={lr:.6g}", flush=True)
            if paceline is not None:
                paceline.log({"loss": loss, "lr": lr}, step=step)
        if args.step_ms:
            time.sleep(max(0.0, args.step_ms / 1000 - (time.perf_counter() - began)))
        stopping = anyone(bool(stop_wanted), device)
        if stopping or (step + 1) % args.checkpoint_every == 0 or step == args.steps - 1:
            save(model, optimizer, step + 1)
        if stopping:
            print(f"stopped by signal after step {step}", flush=True)
            break
    dist.destroy_process_group()


def train_step(model: nn.Module, optimizer, batch: Tensor) -> Tensor:
    logits = model(batch[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


class TinyGPT(nn.Module):
    def __init__(self, width: int = 80, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.places = nn.Embedding(CONTEXT, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, LETTERS)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(CONTEXT), persistent=False)

    def forward(self, text: Tensor) -> Tensor:
        x = self.letters(text) + self.places(torch.arange(text.shape[1], device=text.device))
        return self.head(self.blocks(x, mask=self.mask, is_causal=True))


class Windows(Dataset):
    """Every stretch of CONTEXT + 1 letters in the standard library's own source."""

    def __init__(self) -> None:
        files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
        text = b"".join(path.read_bytes() for path in files[:60])
        self.text = torch.tensor([letter if letter < LETTERS else ord("?") for letter in text])

    def __len__(self) -> int:
        return len(self.text) - CONTEXT - 1

    def __getitem__(self, start: int) -> Tensor:
        return self.text[start : start + CONTEXT + 1]


def windows(first: int, args: argparse.Namespace) -> DataLoader:
    data = Windows()
    seed = torch.Generator().manual_seed(1_000 * first + dist.get_rank())
    sampler = RandomSampler(data, True, max(1, args.steps - first) * args.batch_size, generator=seed)
    return DataLoader(data, args.batch_size, sampler=sampler)


def warm_cosine(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / 20) * (0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, step / max(1, steps)))))


def device_of(wish: str) -> torch.device:
    if wish == "cpu" or (wish == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(device)
    return device


def anyone(mine: bool, device: torch.device) -> bool:
    """So that all ranks stop after the same step."""
    flag = torch.tensor([float(mine)], device=device)
    dist.all_reduce(flag)
    return bool(flag.item())


def checkpoint() -> Path | None:
    folder = os.environ.get("PACELINE_CHECKPOINT_DIR")
    if folder:
        os.makedirs(folder, exist_ok=True)
    return Path(folder) / "tiny_gpt.pt" if folder else None


def save(model, optimizer, step: int) -> None:
    path = checkpoint()
    if path is None or dist.get_rank() != 0:
        return
    state = {"step": step, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, f"{path}.new")
    os.replace(f"{path}.new", path)


def load(model, optimizer, device: torch.device) -> int:
    """The step to go on with: 0, or where the checkpoint was written.

    Each node has a folder of its own and only rank 0 writes, so the others get it from rank 0.
    """
    path = checkpoint()
    there = dist.get_rank() == 0 and path is not None and path.exists()
    found = [torch.load(path, map_location="cpu", weights_only=True) if there else None]
    dist.broadcast_object_list(found, device=device)
    saved = found[0]
    if saved is None:
        return 0
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    print(f"resumed at step {saved['step']}", flush=True)
    return int(saved["step"])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--lr", type=float, default=1e-3)
    for name, default in (("--batch-size", 16), ("--log-every", 1), ("--checkpoint-every", 200)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--step-ms", type=float, default=0.0, help="sleep until a step has taken this long")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    return parser.parse_args()


if __name__ == "__main__":
    main()
