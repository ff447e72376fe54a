"""Starts a shim for a launch, and lets one clean up behind a shim that was lost."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from trainer_agent.agent.environment import mark, rank_environment
from trainer_agent.agent.errors import CannotPrepare
from trainer_agent.agent.files import read_json, write_json
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.places import SHIM, Places
from trainer_agent.wire.launch import RANK_ENTRY, torchrun_argv
from trainer_agent.wire.messages import StartAttempt
from trainer_agent.wire.whole_file import keep_room

SHIM_STARTS_IN = 30.0  # seconds
CLEANED_IN = 60.0  # seconds
# The server ends a run that is over its time. The shim does so too, later, for the case that the server is away.
LIMIT_SLACK = 60.0  # seconds


def launch(start: StartAttempt, work: Path, identity: Identity, places: Places, *, gpus: bool) -> int:
    """Start the shim, wait until it holds the launcher. Returns the launcher's process id."""
    folder = places.attempt(start.attempt)
    folders = places.folders(start.attempt, start.run)
    for path in (folders.ranks, folders.checkpoints):
        path.mkdir(parents=True, exist_ok=True)
    folders.rings.parent.mkdir(mode=0o1777, exist_ok=True)
    folders.rings.mkdir(mode=0o700, exist_ok=True)
    keep_room(str(folder / "stop.json"))  # a stop must get through on a full disk too
    write_json(folder / "plan.json", _plan(start, work, identity, places, gpus=gpus))
    done = _run_shim(folder, SHIM_STARTS_IN)
    if done.returncode:
        raise CannotPrepare("spawn", done.stderr.decode("utf-8", "replace").strip() or "The shim did not start.")
    return int((read_json(folder / "shim.json") or {}).get("launcher", 0))


def clean(folder: Path) -> None:
    """End what a lost shim left behind; exit.json is there afterwards."""
    _run_shim(folder, CLEANED_IN, "clean")


def remove_group(folder: Path) -> None:
    """Take away the control group of a launch that is over, should its shim have left one. A full one stays."""
    group = (read_json(folder / "shim.json") or {}).get("cgroup")
    if group:
        with contextlib.suppress(OSError):
            os.rmdir(group)


def remove_rings(places: Places, key: int) -> None:
    """Give shared memory back."""
    shutil.rmtree(places.rings(key), ignore_errors=True)


def _plan(start: StartAttempt, work: Path, identity: Identity, places: Places, *, gpus: bool) -> dict[str, object]:
    folders = places.folders(start.attempt, start.run)
    argv = torchrun_argv(
        start.argv,
        nnodes=start.nnodes,
        node_rank=start.node_rank,
        ranks_per_node=start.ranks_per_node,
        master_addr=start.master_addr,
        master_port=start.master_port,
        python=identity.python,
        entry=str(SHIM / RANK_ENTRY),
    )
    return {
        "argv": argv,
        "env": rank_environment(start, node=identity.node, folders=folders, gpus=gpus),
        "cwd": str(work),
        "mark": mark(identity.node, start.attempt),
        "signal": start.stop_signal,
        "grace": start.grace,
        "timeout": None if start.timeout is None else start.timeout + LIMIT_SLACK,
    }


def _run_shim(folder: Path, timeout: float, *task: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [sys.executable, "-I", str(SHIM / "shim.py"), str(folder), *task],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotPrepare("spawn", f"The shim could not be started: {error}") from error
