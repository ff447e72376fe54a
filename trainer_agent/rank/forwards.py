"""Forward of wrapped models: DistributedDataParallel, FSDP and FSDP2."""

from threading import get_ident
from types import ModuleType
from typing import Any

from trainer_agent.rank.ddp import DdpModels
from trainer_agent.rank.probe import Probe
from trainer_agent.rank.segment import BACKWARD, FORWARD


class Forwards:
    """The outermost wrapped module's forward is the forward of the step."""

    def __init__(self, probe: Probe, models: DdpModels) -> None:
        self._probe = probe
        self._models = models
        self.depth = 0  # backward sets it to 0: then forward is over, also where it raised and was caught

    def install_ddp(self, module: ModuleType) -> None:
        """After the import of `torch.nn.parallel.distributed`."""
        self._probe.guard.around("forward", module.DistributedDataParallel, "forward", self._before_ddp, self._after)

    def install_fsdp(self, module: ModuleType) -> None:
        """After the import of `torch.distributed.fsdp.fully_sharded_data_parallel`."""
        self._probe.guard.around("forward", module.FullyShardedDataParallel, "forward", self._before, self._after)

    def install_fsdp2(self, module: ModuleType) -> None:
        """After the import of `torch.distributed.fsdp._fully_shard._fsdp_state`, which runs as hooks of the modules."""
        around = self._probe.guard.around
        around("forward", module.FSDPState, "_pre_forward", self._before, _nothing)
        around("forward", module.FSDPState, "_post_forward", _nothing, self._after)

    def _before_ddp(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if get_ident() == self._probe.thread:
            self._models.forward_begins(args[0])
            self._begins()

    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if get_ident() == self._probe.thread:
            self._begins()

    def _after(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.depth and get_ident() == self._probe.thread:
            self.depth -= 1
            if not self.depth:
                self._probe.timeline.leave()

    def _begins(self) -> None:
        probe = self._probe
        if probe.timeline.stack[-1] == BACKWARD:
            return  # recomputed for checkpointing: part of backward
        if self.depth == 0:
            if not probe.steps.trained:
                self._end_of_an_evaluating_pass()
            probe.forwards += 1
            probe.timeline.enter(FORWARD)
            if not probe.wrapper_seen:
                probe.learn(wrapper=True)
        self.depth += 1

    def _end_of_an_evaluating_pass(self) -> None:
        """A loop without optimizer, backward and DataLoader ends its pass where the next forward begins."""
        probe = self._probe
        if probe.forwards and not (probe.backwards or probe.loader_seen):
            probe.end_iteration_without_optimizer()


def _nothing(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    return None
