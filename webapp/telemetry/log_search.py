"""Search in log lines: plain text, or `/pattern/` in a child process that can be ended when it takes too long."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webapp.telemetry.log_fold import Line

BUDGET_S = 2.0
_CHILD = Path(__file__).with_name("pattern_process.py")


class BadPattern(ValueError):
    """The pattern is no regular expression; says why."""


class TooSlow(Exception):
    """The pattern took longer than its budget."""


class Search:
    """Keeps the lines that match; without a query, all."""

    def filter(self, lines: list[Line]) -> list[Line]:
        """The lines that match, in their order."""
        return lines


class TextSearch(Search):
    """Upper and lower case are the same."""

    def __init__(self, text: str) -> None:
        self.text = text.lower()

    def filter(self, lines: list[Line]) -> list[Line]:
        """See Search."""
        return [line for line in lines if self.text in line.text.lower()]


class PatternSearch(Search):
    """A regular expression can take exponential time, and Python cannot interrupt it: so it runs elsewhere."""

    def __init__(self, process: "subprocess.Popen[bytes]", pattern: str) -> None:
        self.process = process
        self._send(pattern.encode())

    def filter(self, lines: list[Line]) -> list[Line]:
        """See Search."""
        self._send(str(len(lines)).encode())
        for line in lines:
            self._send(line.text.encode("utf-8", "replace").replace(b"\n", b" "))
        assert self.process.stdout is not None
        answer = self.process.stdout.readline()
        if not answer:
            raise TooSlow
        return [lines[int(k)] for k in answer.split()]

    def _send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise TooSlow from error


@contextmanager
def search_for(query: str) -> Iterator[Search]:
    """The search that a query asks for."""
    if len(query) < 3 or not (query.startswith("/") and query.endswith("/")):
        yield TextSearch(query) if query else Search()
        return
    pattern = query[1:-1]
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(str(error)) from error
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(_CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        end = threading.Timer(BUDGET_S, process.kill)
        end.start()
        try:
            yield PatternSearch(process, pattern)
        finally:
            end.cancel()
            process.kill()
