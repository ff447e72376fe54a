"""Collectives that a script or FSDP calls by name: the time in which training waits for them.

DDP's own all-reduce never passes here: it is issued in C++.
"""

from types import ModuleType
from typing import Any

from trainer_agent.rank.probe import Probe
from trainer_agent.rank.segment import EXPOSED_COMM

# Bytes of the first tensor times this are the bytes of an all-reduce with the same traffic on the wire.
TRAFFIC = {
    "all_reduce": 1.0,
    "all_gather_into_tensor": 0.5,
    "all_gather_single": 0.5,
    "reduce_scatter_tensor": 0.5,
    "reduce_scatter_single": 0.5,
}
BLOCKING = (
    "all_reduce_coalesced",
    "all_gather",
    "all_gather_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "gather",
    "monitored_barrier",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
)


class Collectives:
    """Around each collective that this torch has, and around `Work.wait` for those that are asynchronous."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe

    def install(self, module: ModuleType) -> None:
        """After the import of `torch.distributed.distributed_c10d`, before `torch.distributed` copies its names."""
        around = self._probe.guard.around
        for name in (*TRAFFIC, *BLOCKING):
            if hasattr(module, name):
                around("collectives", module, name, self._entering(name), self._leave)
        around("collectives", module.Work, "wait", self._wait, self._leave)

    def _entering(self, name: str) -> Any:
        traffic = TRAFFIC.get(name)
        if traffic is None:
            return self._call
        big = "input" if name.startswith("reduce_scatter") else "output_tensor"
        place = 1 if name.startswith("reduce_scatter") else 0

        def enter(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if not self._probe.mine():
                return
            self._call(args, kwargs)
            tensor = args[place] if len(args) > place else kwargs.get(big, kwargs.get("tensor"))
            segment = self._probe.timeline.segment
            if segment is not None and tensor is not None:
                segment.nbytes += int(tensor.numel() * tensor.element_size() * traffic)

        return enter

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._probe.mine():
            self._probe.progress.collective()
            self._wait(args, kwargs)

    def _wait(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self._probe.mine():
            return
        timeline = self._probe.timeline
        timeline.enter(EXPOSED_COMM)
        if timeline.segment is not None:
            timeline.segment.collectives += 1

    def _leave(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._probe.mine():
            self._probe.timeline.leave()
