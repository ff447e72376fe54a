"""Backward: its time, and where this rank's own part of it ends and waiting for the others begins."""

from threading import get_ident
from types import ModuleType
from typing import Any

from trainer_agent.rank.ddp import DdpModels, use_cuda_clock
from trainer_agent.rank.deep import DeepHook
from trainer_agent.rank.forwards import Forwards
from trainer_agent.rank.optimizers import Optimizers
from trainer_agent.rank.probe import LOOK_AGAIN, Probe
from trainer_agent.rank.segment import BACKWARD


class Backwards:
    """Around `torch.autograd.backward` (every `loss.backward()`) and `torch.autograd.grad`."""

    def __init__(
        self, probe: Probe, forwards: Forwards, models: DdpModels, optimizers: Optimizers, deep: DeepHook | None
    ) -> None:
        self._probe = probe
        self._forwards = forwards
        self._models = models
        self._graph_end = models.graph_end
        self._optimizers = optimizers
        self._deep = deep

    def install(self, module: ModuleType) -> None:
        """After the import of `torch.autograd`."""
        self._probe.guard.around("backward", module, "backward", self._before, self._after)
        self._probe.guard.around("backward", module, "grad", self._before_grad, self._after_grad)

    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        probe = self._probe
        if probe.backward_depth:
            self._graph_end.nested()
        if get_ident() != probe.thread:
            return
        probe.backward_depth += 1
        if probe.backward_depth > 1:
            return
        if not (probe.on_cuda or probe.recorder.made % LOOK_AGAIN) and getattr(_loss(args, kwargs), "is_cuda", False):
            use_cuda_clock(probe)
        self._forwards.depth = 0
        probe.backwards += 1
        probe.timeline.enter(BACKWARD)
        if self._models.waiting:
            if self._deep is not None:
                self._deep.backward_begins()
            self._graph_end.begins(_loss(args, kwargs) if self._graph_end.by_loss else None)

    def _after(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        probe = self._probe
        if not probe.backward_depth or get_ident() != probe.thread:
            return
        probe.backward_depth -= 1
        if probe.backward_depth:
            return
        probe.timeline.leave()
        if self._models.waiting:
            if self._graph_end.awaited or self._graph_end.by_loss:
                self._graph_end.over()
            self._models.backward_ended()
        if self._optimizers.stepped_in_backward:
            self._optimizers.backward_ended()

    def _before_grad(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._probe.mine():
            self._probe.timeline.enter(BACKWARD)

    def _after_grad(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._probe.mine():
            self._probe.timeline.leave()


def _loss(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensors = args[0] if args else kwargs.get("tensors")
    return tensors[0] if isinstance(tensors, tuple | list) and tensors else tensors
