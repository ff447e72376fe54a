"""Starts the two ranks that are compared and talks to them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.product import REPO

INJECT = REPO / "trainer_agent" / "inject"


class Rank:
    """One process that trains; `probed` by the same injection as in a real run."""

    def __init__(self, folder: Path, *, probed: bool) -> None:
        folder.mkdir()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PACELINE_")}
        path = [str(INJECT)] if probed else []
        own = {"PACELINE_RING_DIR": str(folder / "rings"), "RANK": "0"} if probed else {}
        env = {**clean, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([*path, str(REPO)]), **own}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.overhead.trains", str(folder / "meeting")],
            env=env,
            cwd=REPO,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def is_ready(self) -> bool:
        """Waits for it."""
        return bool(self._answer())

    def ask(self, what: str, *numbers: int) -> Any:
        """See `trains.py`."""
        assert self._process.stdin is not None
        print(what, *numbers, file=self._process.stdin, flush=True)
        return self._answer()

    def end(self) -> None:
        """Its stdin ends, and so does it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("A rank of the benchmark ended; what it said is above.")
        return json.loads(line)
