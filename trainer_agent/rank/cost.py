"""What the probe itself costs the training thread: the time in its hooks, taken in one of so many steps."""

from collections import deque

from trainer_agent.rank.guard import Guard

EVERY = 31  # steps; shares no divisor with the powers of two at which DDP's timers are read
KEPT = 40  # of the newest timed steps
CUT = 0.1  # of these: in the longest, something else had the processor


class Cost:
    """`us`: microseconds in a step, the mean without the longest tenth; None until a step was timed.

    It wants to hear of the end of step number `due`.
    """

    def __init__(self, guard: Guard) -> None:
        self.due = 0
        self._guard = guard
        self._spent_before = 0
        self._was_timed = False
        self._took: deque[int] = deque(maxlen=KEPT)

    @property
    def us(self) -> float | None:
        took = sorted(self._took)
        usual = took[: max(1, round(len(took) * (1 - CUT)))]
        return round(sum(usual) / 1_000 / len(usual), 1) if usual else None

    def step_ended(self, made: int) -> None:
        """`made` steps have ended. A hook calls it, whose own time is known only when the next step ends."""
        guard = self._guard
        if self._was_timed:
            self._took.append(guard.spent_ns - self._spent_before)
            self._spent_before = guard.spent_ns
        self._was_timed = guard.timed
        guard.timed = made % EVERY == 0
        self.due = made + 1 if guard.timed or self._was_timed else made + EVERY - made % EVERY
