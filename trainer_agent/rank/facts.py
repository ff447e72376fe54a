"""The facts file of a rank: one JSON object a line, appended in one write, never read again by the writer's process."""

import contextlib
import hashlib
import json
import os
from typing import Any

MAX_KEYS = 65_536
MAX_NAME = 500  # characters of a key


class FactsWriter:
    """Appends to the facts file. A file that an earlier process of the rank left is continued, its key numbers too."""

    def __init__(self, path: str) -> None:
        self._keys = _known_keys(path)
        self._next = max(self._keys.values(), default=-1) + 1
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if os.fstat(self._file).st_size:
            os.write(self._file, b"\n")  # ends a line that the earlier process may have left half written

    def write(self, fact: dict[str, Any]) -> None:
        """Append one fact. A full disk loses the line, nothing else."""
        with contextlib.suppress(OSError):
            os.write(self._file, json.dumps(fact, default=str).encode() + b"\n")

    def key(self, name: str) -> int | None:
        """The number of a key, its name written down first. None when there are too many."""
        known = self._keys.get(name)
        if known is not None or self._next >= MAX_KEYS:
            return known
        number = self._next
        self._next += 1
        self._keys[name] = number
        self.write({"key": number, "name": _printable(name)})
        return number


def _printable(name: str) -> str:
    """The name without what UTF-8 cannot carry. A long one ends in a digest, so that no two become one."""
    text = name.encode("utf-8", "replace").decode()
    if len(text) <= MAX_NAME:
        return text
    return f"{text[: MAX_NAME - 18]}…{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _known_keys(path: str) -> dict[str, int]:
    keys: dict[str, int] = {}
    with contextlib.suppress(OSError), open(path, "rb") as file:
        for line in file:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                fact = json.loads(line)
                keys[fact["name"]] = int(fact["key"])
    return keys
