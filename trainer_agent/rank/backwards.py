"""Backward: its time, and where this rank's own part of it ends and waiting for the others begins."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from trainer_agent.rank.ddp import DdpModels, use_cuda_clock
from trainer_agent.rank.deep import DeepHook
from trainer_agent.rank.forwards import Forwards
from trainer_agent.rank.optimizers import Optimizers
from trainer_agent.rank.probe import Probe
from trainer_agent.rank.timeline import BACKWARD, EXPOSED_COMM


class Backwards:
    """Around `torch.autograd.backward` (every `loss.backward()`) and `torch.autograd.grad`.

    DDP waits for its buckets in a callback that runs when the graph is done. One of ours, queued when the graph begins,
    runs just before it: there the local backward ends, on the CPU and in the stream, and what follows is exposed.
    """

    def __init__(
        self, probe: Probe, forwards: Forwards, models: DdpModels, optimizers: Optimizers, deep: DeepHook | None
    ) -> None:
        self._probe = probe
        self._forwards = forwards
        self._models = models
        self._optimizers = optimizers
        self._deep = deep
        self._handle: Any = None
        self._nested = 0
        self._queue: Any = None

    def install(self, module: ModuleType) -> None:
        """After the import of `torch.autograd`."""
        self._probe.guard.around("backward", module, "backward", self._before, self._after)
        self._probe.guard.around("backward", module, "grad", self._before_grad, self._after_grad)

    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self._probe.mine():
            return
        self._nested += 1
        if self._nested > 1:
            return
        loss = _first(args[0] if args else kwargs.get("tensors"))
        if not self._probe.on_cuda and getattr(loss, "is_cuda", False):
            use_cuda_clock(self._probe)
        self._forwards.backward_begins()
        self._probe.backwards += 1
        self._optimizers.backward_depth = self._nested
        self._probe.timeline.enter(BACKWARD)
        if self._models.will_sync():
            if self._deep is not None:
                self._deep.backward_begins()
            self._handle = self._probe.guard.run("local_backward", _hook, loss, self._graph_begins)

    def _after(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self._probe.mine() or not self._nested:
            return
        self._nested -= 1
        self._optimizers.backward_depth = self._nested
        if self._nested:
            return
        self._probe.timeline.leave()
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
            self._models.backward_ended()
        self._optimizers.backward_ended()

    def _graph_begins(self, gradients: Any) -> None:
        self._probe.guard.run("local_backward", self._queue_end)

    def _queue_end(self) -> None:
        if self._queue is None:
            import torch

            self._queue = torch.autograd.Variable._execution_engine.queue_callback
        self._queue(self._graph_ends)

    def _graph_ends(self) -> None:
        """Runs in whichever thread of the engine ends the graph, while the training thread waits."""
        self._probe.guard.run("local_backward", self._local_part_ends)

    def _local_part_ends(self) -> None:
        if self._probe.timeline.inside(BACKWARD):
            self._probe.progress.collectives += 1  # DDP's buckets together: one for every rank that comes here
            self._probe.timeline.become(EXPOSED_COMM)

    def _before_grad(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._probe.mine():
            self._probe.timeline.enter(BACKWARD)

    def _after_grad(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._probe.mine():
            self._probe.timeline.leave()


def _first(tensors: Any) -> Any:
    return tensors[0] if isinstance(tensors, tuple | list) and tensors else tensors


def _hook(loss: Any, begins: Callable[[Any], None]) -> Any:
    """Call `begins` when the engine comes to the loss. On its node where it has one, at half the cost of the tensor."""
    return loss.register_hook(begins) if loss.grad_fn is None else loss.grad_fn.register_prehook(begins)
