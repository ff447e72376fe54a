"""Cuts a rank's time into phases and steps. Pure: marks come from a clock, no torch, no file.

Phases nest, and each moment belongs to the innermost one only, so the parts of a step always add up to the step.
`enter`, `leave` and `cut` run in every step. What they do for a clock that is read at once stands in them: between two
hooks training empties the processor's caches, and then each frame costs microseconds.
"""

from collections.abc import Callable
from time import perf_counter_ns

from trainer_agent.rank.clock import Clock
from trainer_agent.rank.segment import OTHER, DeviceSegment, Segment

Field = list[int] | memoryview  # of one number


def _unseen() -> tuple[Field, Field]:
    return [0], [0]


class Timeline:
    """The phase stack of one thread. It begins with the first phase that is entered.

    `shown_in` is called then and gives two fields, which from there on hold the innermost phase (its index plus 1) and
    since when it is (ns).
    """

    def __init__(self, clock: Clock, shown_in: Callable[[], tuple[Field, Field]] = _unseen) -> None:
        self.segment: Segment | None = None
        self.stack = [OTHER]  # the innermost phase last
        self._shown_in = shown_in
        self._phase, self._since = _unseen()
        self._take(clock)
        self._next_clock = clock

    def enter(self, phase: int) -> None:
        """`phase` begins inside what goes on now."""
        segment, stack, now = self.segment or self._begin(), self.stack, self._now()
        if self._at_once:
            segment.ns[stack[-1]] += now - segment.until
            segment.until = now
        else:
            segment.add(stack[-1], now)
            now = perf_counter_ns()
        stack.append(phase)
        self._phase[0] = phase + 1
        self._since[0] = now

    def leave(self) -> None:
        """The innermost phase ends."""
        segment, stack = self.segment, self.stack
        if segment is None or len(stack) < 2:
            return
        now = self._now()
        if self._at_once:
            segment.ns[stack.pop()] += now - segment.until
            segment.until = now
        else:
            segment.add(stack.pop(), now)
            now = perf_counter_ns()
        self._phase[0] = stack[-1] + 1
        self._since[0] = now

    def become(self, phase: int) -> None:
        """The innermost phase ends and `phase` takes its place."""
        segment, stack = self.segment, self.stack
        if segment is None or len(stack) < 2:
            return
        now = self._now()
        if self._at_once:
            segment.ns[stack[-1]] += now - segment.until
            segment.until = now
        else:
            segment.add(stack[-1], now)
            now = perf_counter_ns()
        stack[-1] = phase
        self._phase[0] = phase + 1
        self._since[0] = now

    @property
    def at_rest(self) -> bool:
        """Whether no phase has begun since the last cut."""
        return self.segment is not None and self.segment.is_empty and len(self.stack) == 1

    def cut(self, *, leaving: bool = False) -> Segment | None:
        """End the segment here and begin the next, and, if `leaving`, the innermost phase. Open phases go on in it."""
        done, stack = self.segment, self.stack
        if done is None:
            return None
        now = self._now()
        if self._at_once:
            done.ns[stack[-1]] += now - done.until
        else:
            done.add(stack[-1], now)
        if leaving and len(stack) > 1:
            stack.pop()
            self._phase[0] = stack[-1] + 1
            self._since[0] = now if self._at_once else perf_counter_ns()
        if self._next_clock is not self.clock:
            self._take(self._next_clock)
            now = self._now()
        self.segment = self._new(self.clock, now)
        return done

    def use(self, clock: Clock) -> None:
        """Take marks from `clock` from the next segment on."""
        self._next_clock = clock
        if self.segment is None:
            self._take(clock)

    def unwind(self) -> None:
        """Forget the open phases: someone who should have closed them cannot."""
        self.stack = [OTHER]

    def _begin(self) -> Segment:
        self._phase, self._since = self._shown_in()
        self.segment = self._new(self.clock, self._now())
        return self.segment

    def _take(self, clock: Clock) -> None:
        self.clock, self._now, self._at_once = clock, clock.now, clock.at_once
        self._new = Segment if clock.at_once else DeviceSegment
