"""Values that the script logs, into their ring. Called from any thread; never waits for a device."""

import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from trainer_agent.rank.output import Output

MAX_WAITING = 4_096  # values on a device whose copy has not arrived


class ValueLog:
    """Turns numbers, numpy scalars and one-element tensors into records. `dropped` counts what could not be."""

    def __init__(self, output: Output) -> None:
        self.dropped = {"unusable": 0, "too_many_keys": 0, "late": 0}
        self._output = output
        self._lock = threading.Lock()
        self.waiting: deque[tuple[Any, Any, str, int]] = deque()  # on a device still
        self._told = 0

    def log(self, values: Any, step: Any) -> None:
        """Record each value that is a number; count the others."""
        if not self._output.open():
            return
        with self._lock:
            if not isinstance(values, Mapping):
                self.dropped["unusable"] += 1
                return
            for key, value in values.items():
                self._take(str(key), value, step)

    def drain(self) -> None:
        """Record the device values whose copies have arrived."""
        with self._lock:
            while self.waiting and self.waiting[0][0].query():
                _, copy, key, step = self.waiting.popleft()
                self._put(key, float(copy), step)

    def dropped_changed(self) -> bool:
        """Whether the losses have doubled since they were last told: a broken loop must not flood the facts."""
        total = sum(self.dropped.values())
        if total == 0 or total < 2 * self._told:
            return False
        self._told = total
        return True

    def _take(self, key: str, value: Any, step: Any) -> None:
        try:
            number = int(step)
            if getattr(value, "is_cuda", False):
                self._wait_for(key, value, number)
            else:
                self._put(key, _as_float(value), number)
        except Exception:  # what somebody else's object does when it is asked for a number
            self.dropped["unusable"] += 1

    def _wait_for(self, key: str, tensor: Any, step: int) -> None:
        """Start a copy to the host behind the work that makes the value, and an event behind the copy."""
        if tensor.numel() != 1:
            raise ValueError("not one number")
        copy = tensor.detach().to("cpu", non_blocking=True)
        event = _event_behind(tensor)
        self.waiting.append((event, copy, key, step))
        if len(self.waiting) > MAX_WAITING:
            self.waiting.popleft()
            self.dropped["late"] += 1

    def _put(self, key: str, value: float, step: int) -> None:
        if not -(2**63) <= step < 2**63:
            raise OverflowError(step)
        number = self._output.facts.key(key)
        if number is None:
            self.dropped["too_many_keys"] += 1
            return
        now = time.time()
        self._output.values.put(now, step, step, value, now, number, 0)


def _as_float(value: Any) -> float:
    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, str | bytes):
        raise TypeError("text is no number")
    return float(value)


def _event_behind(tensor: Any) -> Any:
    import torch

    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(tensor.device))
    return event
