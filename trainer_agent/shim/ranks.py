"""The ranks of one attempt as their own files tell them. Stdlib only."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Any

from trainer_agent.shim import tree
from trainer_agent.shim.files import read_json

RECORDED_IN = 1.0  # seconds that a rank's parent has to write down its death


class Ranks:
    """Reads `rank<r>.started.json` and `rank<r>.exited.json` of one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._signalled: set[int] = set()

    def signal_all(self, number: int) -> int:
        """Send each living rank the signal, once. Returns how many live."""
        living = self._living()
        for started in living:
            if started["entry_pid"] not in self._signalled:
                self._signalled.add(started["entry_pid"])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(started["entry_pid"], number)
        return len(living)

    def kill_all(self) -> None:
        """SIGKILL the ranks themselves first, and let their parents write down how they ended."""
        deadline = time.monotonic() + RECORDED_IN
        while time.monotonic() < deadline and (living := self._living()):
            for started in living:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(started["pid"], signal.SIGKILL)
            time.sleep(tree.LOOK_EVERY)

    def any_started(self) -> bool:
        """Whether a rank ever started."""
        return bool(self._started())

    def _living(self) -> list[dict[str, Any]]:
        """What the ranks that have not ended wrote when they started."""
        paths = [path for path in self._started() if not os.path.exists(path.replace(".started.", ".exited."))]
        found = [started for started in map(read_json, paths) if started is not None]
        return [s for s in found if tree.is_alive(s["entry_pid"], s["entry_start_time"])]

    def _started(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except OSError:
            return []
        return [f"{self.folder}/{name}" for name in names if name.endswith(".started.json")]
