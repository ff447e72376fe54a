"""What a rank's last words say about its end."""

import contextlib
import os
import re
from pathlib import Path

TAIL_BYTES = 64 * 1024
LAST_LINES = 20
MAX_TEXT = 16_000  # characters
TRACEBACK = "Traceback (most recent call last)"
_PORT_TAKEN = re.compile(r"EADDRINUSE|address already in use", re.IGNORECASE)


def tail_text(log: Path, count: int = TAIL_BYTES) -> str:
    """The end of a log as text; bytes that are no UTF-8 are replaced."""
    with contextlib.suppress(OSError), open(log, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - count))
        return file.read().decode("utf-8", "replace")
    return ""


def last_words(text: str) -> str:
    """From the last traceback on; the last lines when there is none."""
    start = text.rfind(TRACEBACK)
    if start < 0:
        return "\n".join(text.splitlines()[-LAST_LINES:])[-MAX_TEXT:]
    # An exception that came while another was handled: the first one is the cause.
    while (earlier := text.rfind(TRACEBACK, 0, start)) >= 0 and _is_chained(text[earlier:start]):
        start = earlier
    return text[start:].strip()[-MAX_TEXT:]


def says_port_in_use(text: str) -> bool:
    """Whether the launcher could not have its port."""
    return bool(_PORT_TAKEN.search(text))


def _is_chained(between: str) -> bool:
    return "The above exception was the direct cause" in between or "During handling of the above exception" in between
