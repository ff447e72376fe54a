"""Every process that belongs to one home, found by the environment that it was started with."""

import os
from pathlib import Path

import psutil

from webapp.supervisor.environment import HOME


def processes_of(home: Path) -> list[psutil.Process]:
    """Processes whose environment says PACELINE_HOME=`home`, this one left out."""
    return [process for process in psutil.process_iter() if process.pid != os.getpid() and _belongs(process, home)]


def kill_all_of(home: Path, seconds: float) -> list[int]:
    """Kill them; returns the pids that still live after `seconds`."""
    found = processes_of(home)
    for process in found:
        _kill(process)
    _, alive = psutil.wait_procs(found, timeout=seconds)
    return [process.pid for process in alive]


def _belongs(process: psutil.Process, home: Path) -> bool:
    try:
        return process.environ().get(HOME) == str(home) and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.Error:
        return
