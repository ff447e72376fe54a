"""What the probe itself costs the training thread: the time in its hooks, taken in one of so many steps."""

from trainer_agent.rank.guard import Guard

EVERY = 31  # steps; shares no divisor with the powers of two at which DDP's timers are read


class Cost:
    """`us`: microseconds in a step, on average; None until a step was timed."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._steps = 0

    @property
    def us(self) -> float | None:
        return round(self._guard.spent_ns / 1_000 / self._steps, 1) if self._steps else None

    def step_ended(self, made: int) -> None:
        """`made` steps have ended."""
        if self._guard.timed:
            self._steps += 1
        self._guard.timed = made % EVERY == 0
