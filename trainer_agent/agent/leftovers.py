"""Processes of ended launches that no kill could end. While one lives, its attempt's slots are not offered again."""

import logging
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from trainer_agent.agent import procs
from trainer_agent.agent.files import read_json, write_json

log = logging.getLogger(__name__)


class Survivor(msgspec.Struct, frozen=True):
    """One such process; `start_time` in clock ticks after boot tells it from one that gets its number later."""

    pid: int
    name: str
    start_time: int


class Leftovers:
    """Remembers them by attempt, in a file that outlives the agent; forgets each as soon as it is gone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()  # the loop notes, the heartbeat looks
        self._noted: set[int] = set()
        self._left: dict[int, list[Survivor]] = {}
        known = read_json(path) or {}
        if known.get("boot_id") == procs.boot_id():
            self._left = {int(k): msgspec.convert(v, list[Survivor]) for k, v in known["attempts"].items()}

    def note(self, attempt: int, survivors: Iterable[Mapping[str, Any]]) -> None:
        """What the end of a launch left, as its exit.json names it. Noting it again changes nothing."""
        with self._lock:
            found = [_survivor(told) for told in survivors] if attempt not in self._noted else []
            if found:
                self._noted.add(attempt)
                self._keep({**self._left, attempt: found})

    def living(self) -> dict[int, list[Survivor]]:
        """Attempt -> its processes that live now; the look itself forgets the others."""
        with self._lock:
            left = {key: [s for s in those if procs.is_alive(s.pid, s.start_time)] for key, those in self._left.items()}
            left = {key: those for key, those in left.items() if those}
            if left != self._left:
                self._keep(left)
            return left

    def _keep(self, left: dict[int, list[Survivor]]) -> None:
        log.info("attempts that still have processes: %s", sorted(left) or "none")
        self._left = left
        content = {"boot_id": procs.boot_id(), "attempts": msgspec.to_builtins(left, str_keys=True)}
        try:
            write_json(self._path, content)
        except OSError as error:  # a full disk: what is in memory still holds
            log.warning("%s cannot be written: %s", self._path, error)


def _survivor(told: Mapping[str, Any]) -> Survivor:
    pid = int(told["pid"])
    start_time = told.get("start_time")
    if start_time is None:  # told by a shim that an earlier release started
        process = procs.look_up(pid)
        start_time = process.start_time if process else -1
    return Survivor(pid, str(told.get("name", "")), int(start_time))
