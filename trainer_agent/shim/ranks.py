"""The ranks of one attempt as their own files tell them. Stdlib only."""

from __future__ import annotations

import contextlib
import os

from trainer_agent.shim import tree
from trainer_agent.shim.files import read_json


class Ranks:
    """Reads `rank<r>.started.json` and `rank<r>.exited.json` of one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._signalled: set[int] = set()

    def signal_all(self, number: int) -> int:
        """Send each living rank the signal, once. Returns how many live."""
        living = 0
        for path in self._started():
            if os.path.exists(path.replace(".started.", ".exited.")):
                continue
            started = read_json(path)
            if started is None or not tree.is_alive(started["entry_pid"], started["entry_start_time"]):
                continue
            living += 1
            if started["entry_pid"] not in self._signalled:
                self._signalled.add(started["entry_pid"])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(started["entry_pid"], number)
        return living

    def any_started(self) -> bool:
        """Whether a rank ever started."""
        return bool(self._started())

    def _started(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except OSError:
            return []
        return [f"{self.folder}/{name}" for name in names if name.endswith(".started.json")]
