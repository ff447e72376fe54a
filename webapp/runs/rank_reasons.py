"""What a rank's last words say about its end: fixed words by real texts, pure. The first that fits counts."""

import re

# A rank that waited for another says one of these. It names the messenger, not the culprit.
_PEER_GONE = re.compile(
    r"connection (closed|reset) by peer|connection was likely closed|broken pipe|remote process exit"
    r"|process ?group.*abort|socket closed|nccl.*(abort|remote error)|gloo.*connect",
    re.IGNORECASE,
)
_WAITED_IN_VAIN = re.compile(
    r"watchdog caught collective operation timeout|ran for \d+ milliseconds before timing out"
    r"|some nccl operations have failed or timed out|timed out waiting \d+ ?ms for (send|recv) operation"
    r"|failed to pass monitoredbarrier|monitoredbarrier.*timed out|gloo.*timed? ?out",
    re.IGNORECASE,
)
# Of gloo, which does not know whose call is the odd one, and of TORCH_DISTRIBUTED_DEBUG=DETAIL.
_DIFFERENT = re.compile(
    r"received data size doesn't match expected size|detected mismatch between collectives|collective mismatch",
    re.IGNORECASE,
)
_NEVER_MET = re.compile(
    r"DistStoreError|RendezvousTimeoutError|RendezvousConnectionError|\d clients joined"
    r"|timed out after \d+ ?ms while trying to connect|client socket has failed to connect",
    re.IGNORECASE,
)
_RAISED = (
    ("import_error", re.compile(r"^(ModuleNotFoundError|ImportError)\b", re.M)),
    ("syntax_error", re.compile(r"^(SyntaxError|IndentationError|TabError)\b", re.M)),
    ("out_of_memory", re.compile(r"OutOfMemoryError|CUDA out of memory|CUDA error: out of memory")),
    ("host_memory", re.compile(r"^MemoryError\b|DefaultCPUAllocator: can't alloc|Cannot allocate memory", re.M)),
    ("port_in_use", re.compile(r"EADDRINUSE|address already in use", re.I)),
    ("collective_mismatch", _DIFFERENT),
    ("collective_timeout", _WAITED_IN_VAIN),
    ("rendezvous", _NEVER_MET),
)
WORDS = frozenset({word for word, _pattern in _RAISED} | {"peer_gone"})
VICTIMS = frozenset({"peer_gone", "collective_timeout", "rendezvous"})
_ABSENT = re.compile(r"ranks? (\d+)[\d, ]* failed to pass monitoredbarrier", re.IGNORECASE)
_COMPLAINS = re.compile(
    r"error|exception|fail|abort|fault|fatal|killed|denied|refused|timed? ?out|assert|cannot|could not|can't|unable"
    r"|no such|not found|not exist|missing|invalid|unknown|closed by|lost|out of memory|no space",
    re.IGNORECASE,
)
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\)", re.M)
_TORCH_PREFIX = re.compile(r"^\[rank\d+\]: ?", re.M)  # torch marks the lines of a traceback with the rank
_LONGEST = 300


def word_of(text: str) -> str:
    """The fixed word for what these last words tell, empty when they tell nothing that we know."""
    said = _plain(text)
    for word, pattern in _RAISED:
        if pattern.search(said):
            return word
    return "peer_gone" if _PEER_GONE.search(last_line(said)) else ""


def absent(text: str) -> int | None:
    """The first rank of which a barrier says that it did not arrive."""
    match = _ABSENT.search(_plain(text))
    return int(match[1]) if match else None


def latecomer(made: dict[int, int]) -> int | None:
    """The one rank that has made clearly fewer steps than all others, which then waited for it."""
    if len(made) < 2:
        return None
    (fewest, rank), (next_fewest, _other) = sorted((count, rank) for rank, count in made.items())[:2]
    return rank if next_fewest - fewest >= 2 else None


def complaint(text: str) -> str:
    """The last line, if it says what went wrong; empty for the last word of a program that was only at work."""
    line = last_line(text)
    return line if _TRACEBACK.search(_plain(text)) or _COMPLAINS.search(line) else ""


def last_line(text: str) -> str:
    """What the last traceback raised, else the last line that says something; cut to 300 characters."""
    said = _plain(text)
    starts = [match.end() for match in _TRACEBACK.finditer(said)]
    if starts:
        below = said[starts[-1] :].splitlines()[1:]
        raised = next((line for line in below if line.strip() and not line[0].isspace()), "")
        if raised:
            return raised.strip()[:_LONGEST]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1][:_LONGEST] if lines else ""


def _plain(text: str) -> str:
    return _TORCH_PREFIX.sub("", text)
