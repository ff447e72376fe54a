"""A shim of its own: any program will do as its launcher."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agent.node import REPO
from tests.waiting import until

SHIM = REPO / "trainer_agent" / "shim" / "shim.py"
Start = Callable[..., dict[str, Any]]


def run(folder: Path, *task: str) -> int:
    return subprocess.run([sys.executable, "-I", str(SHIM), str(folder), *task], timeout=30, check=False).returncode


def ended(folder: Path) -> dict[str, Any]:
    until((folder / "exit.json").exists, 20)
    found: dict[str, Any] = json.loads((folder / "exit.json").read_text())
    return found
