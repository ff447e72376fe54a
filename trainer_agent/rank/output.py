"""The rank's three files, made when there is something to write, and by one process of the rank only."""

import os
import struct
import sys
from typing import Any

from trainer_agent.rank.facts import FactsWriter
from trainer_agent.rank.ring import RingWriter
from trainer_agent.rank.step_ring import StepRing
from trainer_agent.wire import record
from trainer_agent.wire.environment import PROBE_PID


class Output:
    """Opens on first use. Where it cannot (full /dev/shm, a child process of the rank) it stays shut and says False."""

    def __init__(self, ring_dir: str, rank: int) -> None:
        self.ring_dir = ring_dir
        self.rank = rank
        self.facts: FactsWriter
        self.steps: StepRing
        self.values: RingWriter
        self._opened: bool | None = None

    @property
    def opened(self) -> bool:
        """Whether anything was written by this process."""
        return bool(self._opened)

    def open(self) -> bool:
        """Have the files open. True when they are."""
        if self._opened is None:
            self._opened = _belongs_here() and self._make()
        return self._opened

    def _make(self) -> bool:
        other = _living_writer(self._path("steps"))
        try:
            os.makedirs(self.ring_dir, exist_ok=True)
            self.facts = FactsWriter(self._path("facts"))
            self.steps = StepRing(self._path("steps"), record.STEP_CAPACITY, self.rank)
            self.values = RingWriter(self._path("values"), record.VALUE, record.VALUE_CAPACITY, self.rank)
        except OSError:
            return False
        if other:
            self.facts.write({"facts": {"claims": [other, os.getpid()]}})
        os.environ[PROBE_PID] = str(os.getpid())  # children inherit it and know that they are not the rank
        return True

    def _path(self, kind: str) -> str:
        return record.ring_path(self.ring_dir, self.rank, kind)


def _living_writer(path: str) -> int:
    """Another process that runs and has this ring for its own, 0 for none: two claim to be the same rank."""
    try:
        with open(path, "rb") as file:
            pid = int(record.HEADER.unpack(file.read(record.HEADER_SIZE))[4])
        os.kill(pid, 0)
    except (OSError, struct.error):
        return 0
    return pid if pid != os.getpid() else 0


def _belongs_here() -> bool:
    """Whether this process is the rank itself, not a DataLoader worker or another child of it."""
    claimed = os.environ.get(PROBE_PID)
    multiprocessing: Any = sys.modules.get("multiprocessing.process")
    is_child = multiprocessing is not None and multiprocessing.parent_process() is not None
    return not is_child and claimed in (None, str(os.getpid()))
