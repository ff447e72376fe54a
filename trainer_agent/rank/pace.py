"""How long steps take, and from that how often DDP's own timers may be read. Pure."""

SAMPLE_BUDGET_US = 800_000  # DDP's own timers cost about 150 µs to take and to read: once in so much step time
MAX_PERIOD = 16
_FIRST = 4  # steps after which it is known for the first time


class Pace:
    """Learns when `due` steps are made: after 1 (from where it counts), 4, 16 and every 16th."""

    def __init__(self) -> None:
        self.us = 0.0  # a step, on average between the last two times that it learnt
        self.period = 1  # DDP's own timers are worth their cost in every 1st, 2nd, 4th, 8th or 16th step
        self.due = 1
        self._made = 0
        self._end = 0.0

    def learn(self, made: int, end: float) -> None:
        """So many steps are made, the last of which ended then (epoch seconds)."""
        if self._made:
            self.us = max(0.0, end - self._end) * 1e6 / (made - self._made)
        if made >= MAX_PERIOD:
            self.period = _period(self.us)
        self._made, self._end = made, end
        self.due = _FIRST if made < _FIRST else made + MAX_PERIOD - made % MAX_PERIOD


def _period(us: float) -> int:
    period = 1
    while period < MAX_PERIOD and period * us < SAMPLE_BUDGET_US:
        period *= 2
    return period
