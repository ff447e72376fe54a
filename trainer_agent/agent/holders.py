"""Who keeps a slot from being offered: one sentence part for each, for people. Pure."""

from collections.abc import Iterable, Mapping

from trainer_agent.agent.gpu import GpuProcess
from trainer_agent.agent.leftovers import Survivor

GB = 1_000_000_000


def strangers(processes: Iterable[GpuProcess], ours: set[int]) -> list[GpuProcess]:
    """Processes on GPUs that no attempt of ours uses. `ours`: indexes of the slots in use."""
    return [process for process in processes if process.slot not in ours]


def sentence(leftovers: Mapping[int, list[Survivor]], foreign: Iterable[GpuProcess]) -> str:
    """Names every holder; empty when the node is clean."""
    stuck = [f"{s.name} (pid {s.pid}) of an ended run cannot be ended" for those in leftovers.values() for s in those]
    return "; ".join([*stuck, *map(_stranger, foreign)])


def _stranger(process: GpuProcess) -> str:
    size = "" if process.memory is None else f", {process.memory / GB:.1f} GB"
    return f"slot {process.slot} is held by {process.name or 'a process'} (pid {process.pid}){size}"
