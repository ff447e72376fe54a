"""Reads the server's commands. Each id is done once, whatever is repeated, lost, restarted or emptied in between."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from trainer_agent.agent.connection import BLOCK_MS, Away, Patience, connect
from trainer_agent.agent.files import read_json, write_json
from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import Command

log = logging.getLogger(__name__)

REMEMBERED = 5_000  # command ids


class Seen:
    """Ids of commands that were done, on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        known = (read_json(path) or {}).get("ids", [])
        self._ids = OrderedDict.fromkeys(known)
        self._is_saved = True
        self.trouble: OSError | None = None  # why the disk does not take it

    def __contains__(self, command_id: int) -> bool:
        return command_id in self._ids

    def add(self, command_id: int) -> None:
        """Remember it, also after a crash once `save` has worked."""
        self._ids[command_id] = None
        while len(self._ids) > REMEMBERED:
            self._ids.popitem(last=False)
        self._is_saved = False
        self.save()

    def save(self) -> None:
        """Write what is not on disk yet. What the disk refuses is tried again at the next call."""
        if self._is_saved:
            return
        try:
            write_json(self._path, {"ids": list(self._ids)})
        except OSError as error:
            self.trouble = error
        else:
            self._is_saved, self.trouble = True, None


class CommandReader:
    """The thread that waits for commands and hands them to the loop."""

    def __init__(self, url: str, node: str, hand_over: Callable[[Command], None]) -> None:
        self._client = connect(url)
        self._stream = names.commands(node)
        self._hand_over = hand_over
        self._last = b"0"  # ids that were done are known, so reading from the start costs nothing
        self.bad = 0

    def run(self, stop: threading.Event) -> None:
        """Until told to stop."""
        patience = Patience()
        while not stop.is_set():
            try:
                self.read_once()
                patience.worked()
            except Away as error:
                log.debug("no commands: %s", error)
                stop.wait(patience.failed())
            except Exception:
                log.exception("could not read commands")
                stop.wait(patience.failed())

    def read_once(self) -> None:
        """Wait for commands once. After FLUSHALL the server sends again, under later ids than the last one read."""
        answer = self._client.xread({self._stream: self._last}, count=100, block=BLOCK_MS) or {}
        streams = answer.items() if isinstance(answer, dict) else answer
        for _, entries in streams:
            for entry_id, fields in _flat(entries):
                self._last = entry_id
                self._take(fields)

    def _take(self, fields: dict[bytes, bytes]) -> None:
        try:
            command = codec.decode_command(fields.get(names.FIELD.encode(), b""))
        except codec.BadMessage as error:
            self.bad += 1
            log.warning("command %d that cannot be read was left out: %s", self.bad, error)
            return
        self._hand_over(command)


def _flat(entries: list) -> list:  # type: ignore[type-arg]
    """RESP3 wraps a stream's entries in one more list than RESP2."""
    return entries[0] if entries and isinstance(entries[0], list) else entries
