"""Whether a rank ended for want of memory, and what says so. Pure."""

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass

_CUDA = re.compile(r"CUDA out of memory|torch\.OutOfMemoryError|torch\.cuda\.OutOfMemoryError")
# A loader's end, as torch tells it in the rank that waited for it.
_LOADER = re.compile(
    r"DataLoader worker \(pid(?:\(s\))? ([\d, ]+)\) (?:exited unexpectedly|is killed by signal: Killed)"
)


@dataclass(frozen=True, slots=True)
class Kills:
    """Kills for memory since the attempt began: in its own control group, on the whole machine, and by process id as
    the kernel's log names them (None when it cannot be read, or counts processes of other namespaces).
    """

    group: int
    machine: int
    named: Callable[[], set[int] | None]


def evidence(text: str, signal_number: int | None, pid: int | None, kills: Kills) -> str:
    """What says so: cuda, kernel_log, cgroup, kernel_count; empty when nothing does. `text`: the rank's last words."""
    if _CUDA.search(text):
        return "cuda"
    loader = _LOADER.search(text)
    if signal_number != signal.SIGKILL and loader is None:
        return ""
    victims = {int(number) for number in re.findall(r"\d+", loader[1])} if loader else {pid}
    named = kills.named()
    if named:
        return "kernel_log" if named & victims else ""
    if kills.group:
        return "cgroup"
    return "kernel_count" if named is None and kills.machine else ""
