"""Which rank failed first, and why: pure. The others are its victims."""

import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from webapp.runs.models import Cause

# What a healthy rank says when a peer has gone. It names the messenger, not the culprit.
_PEER_GONE = re.compile(
    r"connection (closed|reset) by peer|broken pipe|remote process exited|process ?group.*abort"
    r"|socket closed|nccl.*(abort|remote error)|gloo.*(timed? ?out|connect)",
    re.IGNORECASE,
)
_SENT_TO_VICTIMS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_REASONS = (
    (
        "out_of_memory",
        re.compile(r"OutOfMemoryError|CUDA out of memory|^MemoryError|DefaultCPUAllocator: can't alloc", re.M),
    ),
    ("syntax_error", re.compile(r"^(SyntaxError|IndentationError|TabError)\b", re.M)),
    ("import_error", re.compile(r"^(ModuleNotFoundError|ImportError)\b", re.M)),
    ("port_in_use", re.compile(r"EADDRINUSE|address already in use", re.I)),
)
RANK_REASONS = frozenset({"rank_exit", "killed_by_signal", *(word for word, _pattern in _REASONS)})
_TORCH_PREFIX = re.compile(r"^\[rank\d+\]: ?", re.M)  # torch marks the lines of a traceback with the rank
_LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Exit:
    """How one rank ended; `at` on the server's clock. `code` is None when a signal ended it."""

    rank: int
    node: str
    code: int | None
    signal: int | None
    at: datetime
    traceback: str = ""
    oom: bool = False

    @property
    def failed(self) -> bool:
        return self.signal is not None or self.code != 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Fixed words, and what fills the sentence."""

    cause: Cause
    reason: str
    detail: dict[str, object]


def culprit(exits: Iterable[Exit]) -> Exit | None:
    """The first that failed on its own: victims of another's death come after all others."""
    failed = [exit_ for exit_ in exits if exit_.failed]
    return min(failed, key=lambda exit_: (_victimhood(exit_), exit_.at, exit_.rank), default=None)


def explain(exit_: Exit) -> Verdict:
    """The fixed reason word and {rank, node, code, signal, text} of one exit."""
    return Verdict(
        cause=Cause.CODE,
        reason=_reason(exit_),
        detail={
            "rank": exit_.rank,
            "node": exit_.node,
            "code": exit_.code,
            "signal": exit_.signal,
            "text": last_line(exit_.traceback),
        },
    )


def last_line(text: str) -> str:
    """The last line that says something, cut to 300 characters."""
    lines = [line.strip() for line in _TORCH_PREFIX.sub("", text).splitlines() if line.strip()]
    return lines[-1][:_LONGEST_TEXT] if lines else ""


def _victimhood(exit_: Exit) -> int:
    if exit_.signal in _SENT_TO_VICTIMS:
        return 2
    if _PEER_GONE.search(last_line(exit_.traceback)) or (exit_.signal == signal.SIGABRT and not exit_.traceback):
        return 1
    return 0


def _reason(exit_: Exit) -> str:
    if exit_.oom:
        return "out_of_memory"
    text = _TORCH_PREFIX.sub("", exit_.traceback)
    for word, pattern in _REASONS:
        if pattern.search(text):
            return word
    return "killed_by_signal" if exit_.signal is not None else "rank_exit"
