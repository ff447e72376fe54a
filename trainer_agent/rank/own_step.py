"""How the script's own step numbers lie to the probe's, which count from 0 in each process."""

from itertools import islice
from numbers import Integral
from typing import Any

ENOUGH = 3  # steps that must agree
MOST_TRIES = 1_000


class OwnStep:
    """`difference`: the script's step minus the probe's, once ENOUGH steps that the script named agree on it."""

    def __init__(self) -> None:
        self.difference: int | None = None
        self._seen: dict[int, set[int]] = {}
        self._tries = 0

    def saw(self, named: Any, now: int) -> bool:
        """The script named the step that is the probe's `now`. True when that settles the difference."""
        if self.difference is not None or self._tries >= MOST_TRIES or not isinstance(named, Integral):
            return False
        self._tries += 1
        steps = self._seen.setdefault(int(named) - now, set())
        steps.add(int(named))
        if len(steps) < ENOUGH:
            return False
        self.difference = int(named) - now
        self._seen.clear()
        return True


def steps_before(optimizer: Any) -> int | None:
    """How many steps an Adam-like optimizer's loaded state has seen. A device is never asked: reading it would wait."""
    for state in islice(optimizer.state.values(), 1):
        step = state.get("step", 0)
        on_device = hasattr(step, "device") and step.device.type != "cpu"
        return None if on_device or int(step) <= 0 else int(step)
    return None
