"""Finds the moment in which the graph of a backward is done and DDP has not yet waited for its buckets."""

from collections.abc import Callable
from typing import Any

from trainer_agent.rank.probe import Probe
from trainer_agent.rank.segment import BACKWARD, EXPOSED_COMM


class GraphEnd:
    """There the local backward ends, on the CPU and in the stream, and what follows is exposed.

    DDP waits in a callback that it queues when the last bucket is ready, and callbacks run in the order in which they
    were queued. Ours is queued by a hook that runs in the graph before: on a parameter, which stays and costs little,
    where DDP says that each one takes part in every backward, and else on the loss, which is a new one each time.

    While a backward is `awaited`, or goes `by_loss`, `over` wants to know when it is over.
    """

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._graph_begins = probe.guard.guarded("local_backward", self._queue_end)
        self._graph_ends = probe.guard.guarded("local_backward", self._local_part_ends)
        self.by_loss = False  # the parameters' hooks have not been enough
        self.awaited = False
        self._handle: Any = None
        self._queue: Any = None

    def watch(self, ddp: Any) -> None:
        """This model takes part from now on."""
        if not self.by_loss:
            self.by_loss = True  # unless the parameter can be watched
            parameter = _always_used(ddp)
            if parameter is not None:
                _grad_accumulator(parameter).register_prehook(self._graph_begins)
                self.by_loss = False

    def begins(self, loss: Any) -> None:
        """A backward that will synchronise begins. The loss is wanted only when it goes `by_loss`."""
        self.awaited = True
        if self.by_loss:
            self._handle = self._probe.guard.run("local_backward", _hook, loss, self._graph_begins)

    def nested(self) -> None:
        """A backward runs inside this one and has an end of its own, at which it is too early."""
        self.by_loss = True
        if self.awaited and self._handle is None:
            self.awaited = False

    def over(self) -> None:
        """The backward is over."""
        if self.awaited:  # without a word from a parameter
            self.awaited = False
            self.by_loss = True
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def _queue_end(self, *_: Any) -> None:
        if not self.awaited:
            return
        self.awaited = False
        if self._queue is None:
            import torch

            self._queue = torch.autograd.Variable._execution_engine.queue_callback
        self._queue(self._graph_ends)

    def _local_part_ends(self) -> None:
        """Runs in whichever thread of the engine ends the graph, while the training thread waits."""
        timeline = self._probe.timeline
        if timeline.stack[-1] == BACKWARD:
            timeline.become(EXPOSED_COMM)
            self._probe.progress.collective()  # DDP's buckets together: one for every rank that comes here


def _always_used(ddp: Any) -> Any:
    """A parameter that every backward of this model reaches, or None."""
    if ddp.find_unused_parameters or ddp.static_graph or getattr(ddp, "mixed_precision", None) is not None:
        return None
    reduced = [p for p in ddp._module_parameters if p.requires_grad]
    return None if ddp._delay_all_reduce_params else reduced[-1]


def _grad_accumulator(parameter: Any) -> Any:
    """The node at the end of the graph that adds to the parameter's gradient. DDP keeps it alive, and so our hook."""
    import torch

    with torch.enable_grad():
        return parameter.view_as(parameter).grad_fn.next_functions[0][0]


def _hook(loss: Any, begins: Callable[..., Any]) -> Any:
    """Call `begins` when the engine comes to the loss. On its node where it has one, at half the cost of the tensor."""
    return loss.register_hook(begins) if loss.grad_fn is None else loss.grad_fn.register_prehook(begins)
