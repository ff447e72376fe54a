"""Which optimizer calls make one step, when there are several optimizers. Pure."""


class OptimizerCycle:
    """Learns the order of the optimizers and says where a step ends.

    A step ends where the first optimizer comes round again after another one (or after itself, if it is alone). Once a
    cycle has been seen, the same sequence ends the step at once; until then the step is held back by one call.
    """

    def __init__(self) -> None:
        self._first: int | None = None
        self._known: set[int] = set()
        self._open: list[int] = []
        self._last: tuple[int, ...] = ()

    def on_step(self, who: int) -> tuple[bool, bool]:
        """Optimizer `who` has stepped: (a step had ended before this call, a step ends with this call)."""
        if self.is_alone(who):
            return False, True
        ended_before = self._comes_round(who)
        if ended_before:
            self._last = tuple(self._open)
            self._open = []
        if self._first is None:
            self._first = who
        self._known.add(who)
        self._open.append(who)
        ends_now = tuple(self._open) == self._last
        if ends_now:
            self._open = []
        return ended_before, ends_now

    def is_alone(self, who: int) -> bool:
        """Whether a call of optimizer `who` would be a step of its own, and has been one before."""
        return not self._open and self._last == (who,)

    def _comes_round(self, who: int) -> bool:
        if not self._open:
            return False
        if who in self._open and self._first not in self._open:  # the first one is gone: it has been replaced
            self._first = self._open[0]
            self._known = set(self._open)
        alone = self._known == {who}
        return who == self._first and (self._open[-1] != who or alone)
