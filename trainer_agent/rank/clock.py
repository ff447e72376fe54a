"""Where the marks on a rank's timeline come from: the CPU's clock, or events in a CUDA stream that are read later."""

import time
from collections.abc import Callable
from typing import Any, Protocol


class Clock(Protocol):
    """Makes marks. A mark may become readable only later; nobody ever waits for it."""

    name: str
    at_once: bool  # marks are nanoseconds, and can be read as soon as they are made

    def now(self) -> Any:
        """A mark at this point of the work."""

    def ready(self, mark: Any) -> bool:
        """Whether this mark, and so every earlier one, can be read."""

    def us(self, start: Any, end: Any) -> float:
        """Microseconds between two ready marks."""

    def release(self, marks: list[Any]) -> None:
        """These marks are not needed any more."""


class CpuClock:
    """Marks are nanoseconds of the monotonic clock."""

    name = "cpu"
    at_once = True
    now = staticmethod(time.perf_counter_ns)

    def ready(self, mark: int) -> bool:
        return True

    def us(self, start: int, end: int) -> float:
        return (end - start) / 1_000

    def release(self, marks: list[int]) -> None:
        return None


class CudaClock:
    """Marks are timing events on the current stream, recorded without waiting and read once `query()` says so.

    `new_event` makes an event with `record`, `query` and `elapsed_time`; `capturing` says whether a CUDA graph is being
    captured, in which no event may be recorded: the mark before it stands for it.
    """

    name = "cuda events"
    at_once = False

    def __init__(self, new_event: Callable[[], Any], capturing: Callable[[], bool]) -> None:
        self._new_event = new_event
        self._capturing = capturing
        self._free: list[Any] = []
        self._last: Any = None

    def now(self) -> Any:
        if self._last is not None and self._capturing():
            return self._last
        event = self._free.pop() if self._free else self._new_event()
        event.record()
        self._last = event
        return event

    def ready(self, mark: Any) -> bool:
        return bool(mark.query())

    def us(self, start: Any, end: Any) -> float:
        return 0.0 if start is end else float(start.elapsed_time(end)) * 1_000

    def release(self, marks: list[Any]) -> None:
        self._free.extend({id(mark): mark for mark in marks if mark is not self._last}.values())
