"""Optimizer hooks: the time in `step`, and where a step ends."""

import contextlib
from types import ModuleType
from typing import Any

from trainer_agent.rank.numbers import Numbers
from trainer_agent.rank.own_step import steps_before
from trainer_agent.rank.probe import Probe
from trainer_agent.rank.segment import OPTIMIZER
from trainer_agent.wire.record import FLAG_SKIPPED

IN_BACKWARD = 0  # stands for all optimizers that step inside backward; numbers of real ones begin with 1


class Optimizers:
    """torch's global hooks. Optimizers may nest (ZeRO), run a closure (LBFGS) or step inside backward."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._open: list[int] = []
        self.numbers = Numbers()
        self._opened_at = (0, 0, 0)
        self.stepped_in_backward = False
        self.calls = 0

    def install(self, module: ModuleType) -> None:
        """After the import of `torch.optim.optimizer`."""
        guarded = self._probe.guard.guarded
        module.register_optimizer_step_pre_hook(guarded("optimizer", self._before))
        module.register_optimizer_step_post_hook(guarded("optimizer", self._after))

    def install_scaler(self, module: ModuleType) -> None:
        """After the import of `torch.amp.grad_scaler`: a step that found an inf never reaches the optimizer."""
        scaler = _Scaler(self._probe, self)
        self._probe.guard.around("scaler", module.GradScaler, "step", scaler.before, scaler.after)

    def backward_ended(self) -> None:
        """All parameters whose optimizers step inside backward have been updated."""
        if self.stepped_in_backward:
            self.stepped_in_backward = False
            self._probe.end_step(IN_BACKWARD)

    def _before(self, optimizer: Any, *_: Any) -> None:
        probe = self._probe
        if probe.backward_depth and not self._open and not probe.mine():
            return
        if not self.calls:
            self._first_call(optimizer)
        if id(optimizer) in self._open and self._opened_at != self._work_done:  # the call before this one raised
            self._open = []
            probe.timeline.unwind()
        if not self._open:
            self._opened_at = probe.forwards, probe.backwards, probe.batches
            probe.timeline.enter(OPTIMIZER)
        self._open.append(id(optimizer))

    def _first_call(self, optimizer: Any) -> None:
        self._probe.adopt_thread()
        if not self._open:
            with contextlib.suppress(Exception):  # an optimizer of somebody else's making
                self._probe.resumed_at = steps_before(optimizer) or self._probe.resumed_at

    @property
    def _work_done(self) -> tuple[int, int, int]:
        """Changes between two calls of a training loop, and not where a class's `step` calls that of its parent."""
        return self._probe.forwards, self._probe.backwards, self._probe.batches

    def _after(self, optimizer: Any, *_: Any) -> None:
        self.calls += 1
        probe, opened, key = self._probe, self._open, id(optimizer)
        was_open = bool(opened) and opened[-1] == key
        if was_open:
            opened.pop()
            if opened:
                return
        if not probe.backward_depth:
            probe.end_step(self.numbers.known.get(key) or self.numbers.of(optimizer), leaving=was_open)
            return
        self.stepped_in_backward = True
        if was_open:
            probe.timeline.leave()


class _Scaler:
    """Around `GradScaler.step`."""

    def __init__(self, probe: Probe, optimizers: Optimizers) -> None:
        self._probe = probe
        self._optimizers = optimizers
        self._calls = 0

    def before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._calls = self._optimizers.calls

    def after(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._optimizers.calls == self._calls:
            skipped = kwargs["optimizer"] if "optimizer" in kwargs else args[1]
            self._probe.end_step(self._optimizers.numbers.of(skipped), flags=FLAG_SKIPPED)
