"""Makes steps out of segments: several optimizers, skipped steps, loops without an optimizer. Pure."""

from collections.abc import Callable

from trainer_agent.rank.cycle import OptimizerCycle
from trainer_agent.rank.segment import Segment

FORWARD_ONLY_FROM = 8  # iterations without backward before a loop counts as one that only evaluates


class Steps:
    """Gives every finished step to `emit`, in order.

    `alone` is the optimizer whose every call is a step, once that is sure: its steps may be emitted without asking.
    """

    def __init__(self, emit: Callable[[Segment], None]) -> None:
        self._emit = emit
        self._cycle = OptimizerCycle()
        self._held: Segment | None = None
        self._trial: list[Segment] = []
        self._only_evaluates = False
        self.trained = False
        self.alone: int | None = None

    def optimizer_stepped(self, who: int, segment: Segment) -> None:
        """The segment ends with a call of optimizer `who`, done or skipped."""
        if not self.trained:
            self.trained = True
            self._trial = []
        ended_before, ends_now = self._cycle.on_step(who)
        if ended_before:
            self.flush()
        done = self._held.join(segment) if self._held else segment
        self._held = None if ends_now else done
        if ends_now:
            self._emit(done)
        self.alone = who if ends_now and self._cycle.is_alone(who) else None

    def iteration_without_optimizer(self, segment: Segment) -> None:
        """The segment holds one pass without backward, in a process that has not trained yet."""
        self._trial.append(segment)
        self._only_evaluates = self._only_evaluates or len(self._trial) >= FORWARD_ONLY_FROM
        if self._only_evaluates:
            segments, self._trial = self._trial, []
            for done in segments:
                self._emit(done)

    @property
    def holds(self) -> bool:
        """Whether a step may have ended of which that is not sure yet."""
        return self._held is not None

    def flush(self) -> None:
        """Emit the step that is held back, if there is one."""
        held, self._held = self._held, None
        if held is not None:
            self._emit(held)
