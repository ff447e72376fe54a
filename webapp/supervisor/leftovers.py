"""Every process that belongs to one home: found by the environment that it was started with, or held by a shim."""

import os

import psutil

from webapp.supervisor.environment import HOME
from webapp.supervisor.home import Home
from webapp.supervisor.local_runs import shim_pids

_RANK_DIR = "PACELINE_RANK_DIR"  # of a rank, below its agent's folder


def processes_of(home: Home) -> list[psutil.Process]:
    """This process is not among them."""
    shims = set(shim_pids(home))
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        if process.pid in shims or _belongs(process, home):
            found |= {one.pid: one for one in (process, *_children(process))}
    found.pop(os.getpid(), None)
    return list(found.values())


def kill_all_of(home: Home, seconds: float) -> list[int]:
    """Kill them; returns the pids that still live after `seconds`."""
    found = processes_of(home)
    for process in found:
        _kill(process)
    _, alive = psutil.wait_procs(found, timeout=seconds)
    return [process.pid for process in alive]


def _belongs(process: psutil.Process, home: Home) -> bool:
    try:
        env = process.environ()
        below: bool = env.get(_RANK_DIR, "").startswith(f"{home.root}/")
        return process.pid != os.getpid() and (below or bool(env.get(HOME) == str(home.root)))
    except (psutil.Error, OSError):
        return False


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        children: list[psutil.Process] = process.children(recursive=True)
    except psutil.Error:
        return []
    return children


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.Error:
        return
