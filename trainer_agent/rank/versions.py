"""Versions and identity of this process, for the facts."""

import os
import platform
import sys
from functools import cache
from typing import Any


@cache
def versions() -> dict[str, Any]:
    """torch, CUDA and NCCL as far as this process has loaded them; None where not."""
    torch: Any = sys.modules.get("torch")
    return {
        "python": platform.python_version(),
        "pid": os.getpid(),
        "torch": str(torch.__version__) if torch else None,
        "cuda": torch.version.cuda if torch else None,
        "nccl": _nccl(torch),
    }


def _nccl(torch: Any) -> str | None:
    try:
        return ".".join(str(part) for part in torch.cuda.nccl.version()) if torch.version.cuda else None
    except Exception:  # a build without NCCL
        return None
