"""DataLoader: the time that training waits for a batch."""

from threading import get_ident
from types import ModuleType
from typing import Any

from trainer_agent.rank.probe import Probe
from trainer_agent.rank.segment import DATA


class Loaders:
    """Around `DataLoader.__iter__` (starts the workers) and its iterator's `__next__`."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._depth = 0

    def install(self, module: ModuleType) -> None:
        """After the import of `torch.utils.data.dataloader`."""
        around = self._probe.guard.around
        around("data", module.DataLoader, "__iter__", self._before_iter, self._after)
        around("data", module._BaseDataLoaderIter, "__next__", self._before_next, self._after)

    def _before_iter(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self._probe.mine() or not self._probe.output.open():  # opened before workers start, so they know
            return
        self._depth += 1
        self._probe.timeline.enter(DATA)
        try:
            batches = len(args[0])
        except TypeError:  # an iterable dataset has no length
            batches = 0
        if not self._probe.batches_per_epoch or not self._probe.steps.trained:
            self._probe.learn(loader=True, batches_per_epoch=batches)

    def _before_next(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        probe = self._probe
        if get_ident() != probe.thread:
            return
        if self._depth == 0:
            if not probe.steps.trained:
                self._end_of_an_evaluating_pass()
            probe.batches += 1
        self._depth += 1
        probe.timeline.enter(DATA)

    def _after(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        probe = self._probe
        if self._depth and get_ident() == probe.thread:
            self._depth -= 1
            probe.timeline.leave()

    def _end_of_an_evaluating_pass(self) -> None:
        probe = self._probe
        if probe.backwards or not probe.batches:
            return
        if probe.forwards or not (probe.wrapper_seen or _is_grad_enabled()):
            probe.end_iteration_without_optimizer()


def _is_grad_enabled() -> bool:
    import torch

    return bool(torch.is_grad_enabled())
