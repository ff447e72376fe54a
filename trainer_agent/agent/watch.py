"""Turns the files that shim and ranks leave behind into happenings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainer_agent.agent import happenings as h
from trainer_agent.agent import kernel_log, last_words, procs
from trainer_agent.agent.files import read_json
from trainer_agent.agent.memory_kill import Kills, evidence
from trainer_agent.wire.messages import Inventory


class AttemptFiles:
    """One attempt's folder on this node."""

    def __init__(self, folder: Path, ranks: range) -> None:
        self.folder = folder
        self.ranks = ranks
        self._kills_before = kernel_log.kill_count()

    @property
    def shim_is_up(self) -> bool:
        """Whether a shim ever held this launch."""
        return (self.folder / "shim.json").exists()

    def launcher_pid(self) -> int:
        """The launcher's process id, 0 when unknown."""
        return int((read_json(self.folder / "shim.json") or {}).get("launcher", 0))

    def shim_lives(self) -> bool:
        """Whether the shim that wrote shim.json is alive in this boot."""
        shim = read_json(self.folder / "shim.json")
        if shim is None or shim.get("boot_id") != procs.boot_id():
            return False
        return procs.is_alive(int(shim["pid"]), int(shim["start_time"]))

    def living_ranks(self) -> dict[int, int]:
        """Rank -> process id of the ranks that live now."""
        living = {}
        for rank in self.ranks:
            started = read_json(self._of(rank, "started"))
            if started and procs.is_alive(int(started["pid"]), int(started["start_time"])):
                living[rank] = int(started["pid"])
        return living

    def look(self, known_started: set[int], known_exited: set[int], inventory: Inventory) -> Iterator[h.Happening]:
        """What happened that is not known yet. exit.json is looked for first and told last."""
        ended = read_json(self.folder / "exit.json")
        lives = ended is not None or self.shim_lives()
        order = read_json(self.folder / "stop.json")
        if order is not None:
            yield h.StopSeen(order)
        for rank in self.ranks:
            if rank not in known_started and (started := read_json(self._of(rank, "started"))):
                yield h.RankStarted(rank, float(started["at"]), _started_facts(started, inventory))
            if rank not in known_exited and (exited := read_json(self._of(rank, "exited"))):
                yield h.RankExited(rank, float(exited["at"]), self._exit_facts(rank, exited))
        if ended is not None:
            yield self._shim_exited(ended)
        elif self.shim_is_up and not lives and not (self.folder / "exit.json").exists():
            yield h.ShimLost()

    def memory_facts(self, text: str, signal_number: int | None, pid: int | None, since: float) -> dict[str, Any]:
        """`oom` and `oom_by` of a rank that ended with these last words; `since`: its start, seconds after boot."""
        shim, ended = read_json(self.folder / "shim.json") or {}, read_json(self.folder / "exit.json") or {}
        group = kernel_log.group_kill_count(str(shim.get("cgroup", "")))
        kills = Kills(
            group=max(group, int(ended.get("oom_kills", 0))),
            machine=kernel_log.kill_count() - self._kills_before,
            named=lambda: kernel_log.killed(since),
        )
        by = evidence(text, signal_number, pid, kills)
        return {"oom": bool(by), "oom_by": by}

    def reset(self) -> None:
        """Remove what a launch left, except its logs."""
        paths = [self.folder / name for name in ("shim.json", "exit.json", "stop.json", "plan.json")]
        for path in [*paths, *(self.folder / "ranks").glob("*.json")]:
            path.unlink(missing_ok=True)

    def _of(self, rank: int, what: str) -> Path:
        return self.folder / "ranks" / f"rank{rank}.{what}.json"

    def _exit_facts(self, rank: int, exited: dict[str, Any]) -> dict[str, Any]:
        code, signal_number = exited.get("code"), exited.get("signal")
        text = "" if code == 0 else last_words.tail_text(self.folder / "ranks" / f"rank{rank}.log")
        started = read_json(self._of(rank, "started")) or {}
        since = float(started.get("start_time", 0)) / procs.TICKS
        return {
            "code": code,
            "signal": signal_number,
            "traceback": last_words.last_words(text),
            "max_rss_kb": exited.get("max_rss_kb"),
            "log_lost": exited.get("log_lost", 0),
            **self.memory_facts(text, signal_number, started.get("pid"), since),
        }

    def _shim_exited(self, ended: dict[str, Any]) -> h.ShimExited:
        """A launcher that failed before any rank started is explained by its own output."""
        any_rank = any(self._of(rank, "started").exists() for rank in self.ranks)
        if any_rank or ended.get("launcher_code") in (0, None):
            return h.ShimExited(ended)
        text = last_words.tail_text(self.folder / "launcher.log")
        return h.ShimExited({**ended, "detail": last_words.last_words(text)}, last_words.says_port_in_use(text))


def _started_facts(started: dict[str, Any], inventory: Inventory) -> dict[str, Any]:
    return {
        "pid": started.get("pid"),
        "python": started.get("python", ""),
        "torch": inventory.torch,
        "cuda": "",
        "nccl": inventory.nccl,
    }
