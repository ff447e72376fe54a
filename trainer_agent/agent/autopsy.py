"""What every local rank is doing at this moment: looked at from outside and asked from inside, about 3 s at most."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trainer_agent.agent import asking, procs
from trainer_agent.agent.last_words import tail_text
from trainer_agent.agent.stuck_sockets import stuck
from trainer_agent.wire.messages import SlotFacts
from trainer_agent.wire.ring_reader import RingHeader, step_reader

WATCHED_FOR = 0.3  # seconds in which a process's processor time is counted
AT_ONCE = 16  # ranks
MOST_BYTES = 60_000  # of one rank's facts
LOG_LINES, LOG_BYTES = 12, 8_192
MOST_SOCKETS = 16


@dataclass(frozen=True, slots=True)
class Scene:
    """Where to look. `pids`: the ranks that live; `devices`: rank -> its GPU as last sampled."""

    rings: str
    folder: Path
    ranks: Iterable[int]
    pids: dict[int, int]
    devices: dict[int, SlotFacts]


def examine(scene: Scene) -> dict[int, dict[str, Any]]:
    """Rank -> its facts as they go into an `autopsy` event (docs/wire.md, "Autopsy")."""
    ranks = sorted(scene.ranks)
    with ThreadPoolExecutor(max_workers=max(1, min(AT_ONCE, len(ranks)))) as pool:
        return dict(zip(ranks, pool.map(lambda rank: _of_rank(scene, rank), ranks), strict=True))


def _of_rank(scene: Scene, rank: int) -> dict[str, Any]:
    header = _header(scene.rings, rank)
    pid = scene.pids.get(rank)
    if header is not None and pid is not None and procs.look_up(header.pid) is not None:
        pid = header.pid  # what trains, where the launcher was given a program that starts it
    found = {"alive": pid is not None, "pid": pid, **_progress(header), "log": _last_lines(scene.folder, rank)}
    device = scene.devices.get(rank)
    if device is not None:
        found["gpu"] = {"index": device.index, "util": device.util, "power": device.power, "memory": device.memory_used}
    if pid is not None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            found |= _process(pid)
        found |= _inside(scene.rings, rank, pid)
    return _fitted(found)


def _header(rings: str, rank: int) -> RingHeader | None:
    reader = step_reader(rings, rank)
    try:
        return reader.header()
    finally:
        reader.close()


def _progress(header: RingHeader | None) -> dict[str, Any]:
    if header is None:
        return {}
    now = time.time()
    return {
        "steps": header.seq + header.ahead,
        "collectives": header.collectives,
        "phase": header.phase,
        "in_phase_s": round(now - header.since, 3) if header.since else None,
        "no_step_s": round(now - header.time, 3) if header.time else None,
    }


def _process(pid: int) -> dict[str, Any]:
    """State of the main thread, and the share of one processor that it and the whole process used for a moment."""
    before, began = _times(pid), time.monotonic()
    time.sleep(WATCHED_FOR)
    after, took = _times(pid), time.monotonic() - began
    process = procs.look_up(pid)
    return {
        "state": process.state if process else "",
        "wchan": _word(f"/proc/{pid}/wchan"),
        "threads": len(os.listdir(f"/proc/{pid}/task")),
        "cpu": round((after[0] - before[0]) / took, 2),
        "main_cpu": round((after[1] - before[1]) / took, 2),
        "stuck_sockets": [asdict(one) for one in stuck(pid)[:MOST_SOCKETS]],
    }


def _times(pid: int) -> tuple[float, float]:
    """Processor seconds of the process and of its main thread."""
    return _cpu(f"/proc/{pid}/stat"), _cpu(f"/proc/{pid}/task/{pid}/stat")


def _cpu(path: str) -> float:
    with open(path, "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / procs.TICKS


def _word(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip().strip("0")
    except OSError:
        return ""


def _inside(rings: str, rank: int, pid: int) -> dict[str, Any]:
    flight, answered = asking.ask(rings, rank, "flight")
    stacks, source = asking.look_inside(pid), "py-spy"
    if not stacks and answered:
        told, _ = asking.ask(rings, rank, "stacks")
        stacks, source = told or [], "rank"
    return {
        "answered": answered,
        "flight": flight or None,
        "stacks": asking.cut(stacks),
        "stacks_from": source if stacks else "",
    }


def _last_lines(folder: Path, rank: int) -> list[str]:
    lines = tail_text(folder / "ranks" / f"rank{rank}.log", LOG_BYTES).splitlines()
    return [line[:500] for line in lines[-LOG_LINES:]]


def _fitted(found: dict[str, Any]) -> dict[str, Any]:
    """Small enough for one event: first other threads go, then the collectives, then the depth of the main thread."""
    cuts: tuple[Callable[[], object], ...] = (
        lambda: found.update(stacks=found.get("stacks", [])[:1]),
        lambda: found.update(flight=None),
        lambda: found.update(stacks=[], log=[]),
    )
    for cut in cuts:
        if len(json.dumps(found)) <= MOST_BYTES:
            break
        cut()
    return found
