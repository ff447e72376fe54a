"""Answers an agent that asks what this rank is doing: one thread that waits on a UNIX socket beside the rings.

One line in, one JSON document out: `stacks` (every Python thread) or `flight` (how far each process group has come,
and the newest collectives with the lines that called them). Our own thread, since torch's `_WorkerServer` prints to the
script's output and starts a thread per processor. A rank whose interpreter is held or stopped does not answer.
"""

import contextlib
import io
import json
import os
import pickle
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from trainer_agent.rank.probe import Probe
from trainer_agent.wire import record

MOST_FRAMES = 30
MOST_ENTRIES = 16
MOST_SIZES = 8  # of one collective
PATIENCE = 1.0  # seconds for one question
_NOT_THEIRS = ("/torch/", "/trainer_agent/rank/")  # lines that are not the script's
_OF_ENTRY = ("pg_id", "process_group", "collective_seq_id", "profiling_name", "is_p2p", "retired")


class Answers:
    """Starts when the script begins to form its process group."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._listens = False

    def install(self, module: ModuleType) -> None:
        """After the import of `torch.distributed.distributed_c10d`."""
        self._probe.guard.around("answers", module, "init_process_group", self._start, _nothing)

    def _start(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._listens or not self._probe.output.open():
            return
        self._listens = True
        path = record.ring_path(self._probe.output.ring_dir, self._probe.output.rank, "sock")
        door = socket.socket(socket.AF_UNIX)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            door.bind(path)
            door.listen(4)
        except OSError:  # a path too long for a socket, or a full table of files: no answers, no harm
            door.close()
            return
        threading.Thread(target=_serve, args=(door,), daemon=True, name="paceline-answers").start()


def _serve(door: socket.socket) -> None:
    while True:
        try:
            caller, _ = door.accept()
        except OSError:
            return
        with caller, contextlib.suppress(Exception):
            caller.settimeout(PATIENCE)
            asked = caller.recv(64).decode().strip()
            caller.sendall(json.dumps(_ANSWERS[asked]()).encode())


def stacks() -> list[dict[str, Any]]:
    """Python threads with their frames, innermost first."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    mine = threading.get_ident()
    return [
        {"thread": names.get(ident, str(ident)), "frames": _frames(frame)}
        for ident, frame in sys._current_frames().items()
        if ident != mine
    ]


def flight() -> dict[str, Any]:
    """torch's flight recorder, cut to what tells one rank from another. Empty where this torch has none."""
    torch: Any = sys.modules["torch"]
    content = _Plain(io.BytesIO(torch._C._distributed_c10d._dump_fr_trace(True, True, False))).load()
    newest = content.get("entries", [])[-MOST_ENTRIES:]
    return {
        "version": str(content.get("version", "")),
        "pg_config": content.get("pg_config", {}),
        "pg_status": content.get("pg_status", {}),
        "entries": [_entry(entry) for entry in newest],
    }


class _Plain(pickle.Unpickler):
    """torch writes its dump as a pickle of plain values; nothing else is taken, though it comes from this process."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name}")


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    own = [frame for frame in entry.get("frames", ()) if not any(part in frame["filename"] for part in _NOT_THEIRS)]
    return {
        **{name: entry[name] for name in _OF_ENTRY if name in entry},
        "input_sizes": entry.get("input_sizes", [])[:MOST_SIZES],
        "input_dtypes": entry.get("input_dtypes", [])[:MOST_SIZES],
        "frames": own[:2],
    }


def _frames(frame: FrameType | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while frame is not None and len(found) < MOST_FRAMES:
        code = frame.f_code
        found.append({"name": code.co_name, "filename": code.co_filename, "line": frame.f_lineno})
        frame = frame.f_back
    return found


def _nothing(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    return None


_ANSWERS: dict[str, Callable[[], Any]] = {"stacks": stacks, "flight": flight}
