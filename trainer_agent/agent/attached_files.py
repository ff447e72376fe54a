"""What an attached launch leaves behind, turned into happenings: its ranks were started by somebody else's launcher."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainer_agent.agent import happenings as h
from trainer_agent.agent import last_words, procs
from trainer_agent.agent.files import read_json
from trainer_agent.agent.rank_search import FoundRank, ranks_below, ranks_with_rings
from trainer_agent.agent.watch import AttemptFiles
from trainer_agent.wire.messages import Inventory

SEARCH_EVERY = 1.0  # seconds
# torchrun names the first worker of its node that failed; a negative code is the number of the signal.
_FIRST_FAILURE = re.compile(r"failed \(exitcode: (-?\d+)\) local_rank: (\d+) \(pid: (\d+)\)")
_LAUNCHER_SAYS = re.compile(r"[EWI]\d{4} [\d:.]+ .*torch/distributed/")


class AttachedFiles(AttemptFiles):
    """The folder that the front keeps (trainer_agent/shim/attach.py), its processes, and the rings of its ranks."""

    def __init__(self, folder: Path, rings: Path) -> None:
        super().__init__(folder, range(0))
        self.found: dict[int, FoundRank] = {}
        self._rings = rings
        self._searched_at = 0.0

    @property
    def first_rank(self) -> int:
        """The lowest rank of this node: its launcher numbers them in one stretch."""
        lowest = min(self.found.values(), key=lambda rank: rank.rank, default=None)
        return 0 if lowest is None else lowest.rank - (lowest.local_rank or 0)

    def living_ranks(self) -> dict[int, int]:
        """Rank -> process id of the ranks that live now."""
        found = list(self.found.values())
        return {rank.rank: rank.pid for rank in found if procs.is_alive(rank.pid, rank.start_time)}

    def look(self, known_started: set[int], known_exited: set[int], inventory: Inventory) -> Iterator[h.Happening]:
        """What happened that is not known yet. The end of the command is told after what it says about its ranks."""
        ended = read_json(self.folder / "exit.json")
        self._search(now=time.monotonic(), at_once=ended is not None)
        for rank in sorted(self.found.keys() - known_started):
            yield h.RankStarted(rank, time.time(), _started_facts(self.found[rank]))
        if ended is not None:
            yield from (exited for exited in self._exits(ended) if exited.rank not in known_exited)
        for happening in super().look(known_started, known_exited, inventory):
            if ended is not None or not isinstance(happening, h.ShimExited):
                yield happening

    def _search(self, *, now: float, at_once: bool) -> None:
        if not at_once and now - self._searched_at < SEARCH_EVERY:
            return
        self._searched_at = now
        # Replaced, not changed: other threads go through it. A rank that was started again has a new process.
        self.found = {**ranks_with_rings(self._rings), **self.found, **ranks_below(self.launcher_pid())}

    def _exits(self, ended: dict[str, Any]) -> Iterator[h.RankExited]:
        """0 of the launcher means 0 of all its ranks. Of a failure only the rank that the launcher blames is known."""
        at = float(ended["at"])
        if ended.get("launcher_code") == 0:
            yield from (h.RankExited(rank, at, {"code": 0, "signal": None}) for rank in self.found)
            return
        blamed = self._blamed(ended)
        if blamed is not None:
            rank, code = blamed
            process = self.found.get(rank)
            words = self._last_output()
            signal_number = -code if code < 0 else None
            data = {
                "code": None if code < 0 else code,
                "signal": signal_number,
                "traceback": last_words.last_words(words),
                **self.memory_facts(words, signal_number, process.pid if process else None, since=0.0),
            }
            yield h.RankExited(rank, at, data)

    def _blamed(self, ended: dict[str, Any]) -> tuple[int, int] | None:
        """The rank and its exit code (negative: signal)."""
        match = _FIRST_FAILURE.search(last_words.tail_text(self.folder / "launcher.log"))
        for rank in self.found.values():
            if match and (rank.pid == int(match[3]) or rank.local_rank == int(match[2])):
                return rank.rank, int(match[1])
            if rank.pid == self.launcher_pid():  # no launcher at all: the command is the rank
                code = ended.get("launcher_code")
                return rank.rank, -int(ended["launcher_signal"]) if code is None else int(code)
        return None

    def _last_output(self) -> str:
        """The end of what was printed before the launcher noticed the failure, without what the launcher says."""
        text = last_words.tail_text(self.folder / "launcher.log")
        match = _FIRST_FAILURE.search(text)
        lines = text[: match.start()].splitlines()[:-1] if match else text.splitlines()
        return "\n".join(line for line in lines if not _LAUNCHER_SAYS.match(line))

    def _shim_exited(self, ended: dict[str, Any]) -> h.ShimExited:
        if ended.get("launcher_code") == 0:
            return h.ShimExited(ended)
        return h.ShimExited({**ended, "detail": last_words.last_words(self._last_output())})


def _started_facts(rank: FoundRank) -> dict[str, Any]:
    facts = {"pid": rank.pid, "local_rank": rank.local_rank, "world_size": rank.world_size}
    return {name: value for name, value in facts.items() if value is not None}
