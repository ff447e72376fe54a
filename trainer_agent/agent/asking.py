"""Stacks and collectives of a living rank: from outside by py-spy, from inside by the thread that answers there."""

import contextlib
import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from trainer_agent.wire import record

ANSWERED_IN = 1.0  # seconds; a rank whose interpreter is held or stopped never answers
LOOKED_IN = 2.0  # seconds
MOST_BYTES = 4 * 1024 * 1024
MOST_THREADS, MOST_FRAMES = 12, 30


def ask(rings: str, rank: int, question: str) -> tuple[Any, bool | None]:
    """The rank's answer, and whether it gave one; (None, None) where nobody listens."""
    path = record.ring_path(rings, rank, "sock")
    with socket.socket(socket.AF_UNIX) as caller, contextlib.suppress(ValueError):
        caller.settimeout(ANSWERED_IN)
        try:
            caller.connect(path)
        except TimeoutError:
            return None, False
        except OSError:
            return None, None
        try:
            caller.sendall(f"{question}\n".encode())
            return json.loads(_all_of(caller)), True
        except OSError:
            return None, False
    return None, False


def look_inside(pid: int) -> list[dict[str, Any]]:
    """Every Python thread's stack by py-spy, which needs no help of the process; empty where it cannot."""
    program = py_spy()
    if program is None:
        return []
    try:
        done = subprocess.run(
            [program, "dump", "--nonblocking", "--json", "--pid", str(pid)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LOOKED_IN,
            check=False,
        )
        found = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return []
    return [_thread(thread) for thread in found if isinstance(thread, dict)]


def cut(stacks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The main thread first, not our own, and none longer than people read."""
    shown = [stack for stack in stacks if stack.get("thread") != "paceline-answers"]
    shown.sort(key=lambda stack: stack.get("thread") != "MainThread")
    return [{**stack, "frames": [_frame(f) for f in stack["frames"][:MOST_FRAMES]]} for stack in shown[:MOST_THREADS]]


def py_spy() -> str | None:
    """The program, beside this interpreter or on the path."""
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def _thread(told: dict[str, Any]) -> dict[str, Any]:
    frames = [{name: frame.get(name) for name in ("name", "filename", "line")} for frame in told.get("frames", ())]
    return {
        "thread": told.get("thread_name") or str(told.get("thread_id")),
        "holds_gil": bool(told.get("owns_gil")),
        "active": bool(told.get("active")),
        "frames": frames,
    }


def _frame(frame: dict[str, Any]) -> dict[str, Any]:
    """Of an installed package only the path inside it: the same on every node, and short."""
    path = str(frame.get("filename", ""))
    return {**frame, "filename": path.rpartition("/site-packages/")[2]}


def _all_of(caller: socket.socket) -> bytes:
    data = bytearray()
    while len(data) < MOST_BYTES and (piece := caller.recv(65_536)):
        data += piece
    return bytes(data)
