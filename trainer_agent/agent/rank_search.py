"""Finds the ranks of a launch that is not ours: processes below its launcher that have a rank, and their rings."""

import os
from dataclasses import dataclass
from pathlib import Path

from trainer_agent.agent import procs
from trainer_agent.wire.ring_reader import step_reader

_WANTED = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")


@dataclass(frozen=True, slots=True)
class FoundRank:
    """One rank; what its launcher did not tell it is None. `pid` 0: only its rings are left."""

    rank: int
    pid: int
    start_time: int
    local_rank: int | None = None
    world_size: int | None = None
    local_world_size: int | None = None


def ranks_below(launcher: int) -> dict[int, FoundRank]:
    """The ranks that live now. A rank's own children, which inherit its environment, are not looked at."""
    everyone = procs.snapshot()
    found: dict[int, FoundRank] = {}
    look_at = [launcher]
    while look_at:
        process = everyone.everyone.get(look_at.pop())
        if process is None:
            continue
        rank = _as_rank(process)
        if rank is None:
            look_at += everyone.children.get(process.pid, [])
        elif process.state not in "ZX":
            found[rank.rank] = rank
    return found


def ranks_with_rings(rings: Path) -> dict[int, FoundRank]:
    """The ranks that wrote a step, also those that have ended."""
    found: dict[int, FoundRank] = {}
    for path in rings.glob("rank*.steps"):
        text = path.name.removeprefix("rank").removesuffix(".steps")
        reader = step_reader(str(rings), int(text)) if text.isdecimal() else None
        header = reader.header() if reader is not None else None
        if reader is None or header is None:
            continue
        reader.close()
        process = procs.look_up(header.pid)
        found[header.rank] = FoundRank(header.rank, header.pid, process.start_time if process else 0)
    return found


def _as_rank(process: procs.Process) -> FoundRank | None:
    """A process with a global and a local rank: some clusters set RANK alone, for the launcher."""
    told = {name: int(value) for name, value in _environment(process.pid).items() if value.isdecimal()}
    if "RANK" not in told or "LOCAL_RANK" not in told:
        return None
    return FoundRank(
        rank=told["RANK"],
        pid=process.pid,
        start_time=process.start_time,
        local_rank=told["LOCAL_RANK"],
        world_size=told.get("WORLD_SIZE"),
        local_world_size=told.get("LOCAL_WORLD_SIZE"),
    )


def _environment(pid: int) -> dict[str, str]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = (entry.partition(b"=") for entry in file.read().split(b"\0"))
    except OSError:
        return {}
    found = {os.fsdecode(name): os.fsdecode(value) for name, _equals, value in pairs}
    return {name: found[name] for name in _WANTED if name in found}
