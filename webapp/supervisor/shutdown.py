"""Stop everything of one home within ten seconds, runs first, Redis last, and prove that nothing is left."""

import signal
import threading
import time
from collections.abc import Callable, Sequence

from webapp.supervisor.home import Home
from webapp.supervisor.leftovers import kill_all_of
from webapp.supervisor.local_runs import any_alive, ask_the_server_to_stop, hurry_shims
from webapp.supervisor.part import Part

_RUNS_S = 4.5  # until the ranks must be gone
_PARTS_S = 3.0  # for agents to flush and for the server's parts to end
_REDIS_S = 1.0  # to write its last lines
_KILLED_S = 1.0


def stop_everything(home: Home, parts: Sequence[Part], kill_now: threading.Event) -> list[int]:
    """Returns the pids that could not be ended; `kill_now` cuts every wait short."""
    wait = _Waiter(kill_now)
    if not kill_now.is_set() and any_alive(home):
        _stop_runs(home, wait)
    last = [part for part in parts if part.name == "redis"]
    for group, seconds in ((_without(parts, last), _PARTS_S), (last, _REDIS_S)):
        for part in group:
            part.signal(signal.SIGTERM)
        wait.until(lambda group=group: not any(part.alive for part in group), seconds)  # type: ignore[misc]
        for part in group:
            part.kill()
    return kill_all_of(home.root, _KILLED_S)


def _stop_runs(home: Home, wait: "_Waiter") -> None:
    """The server writes down who stopped them and why; then the shims get less time than the runs ask for."""
    ask_the_server_to_stop(home)
    hurry_shims(home)
    wait.until(lambda: not any_alive(home), _RUNS_S)


def _without(parts: Sequence[Part], left_out: Sequence[Part]) -> list[Part]:
    return [part for part in parts if part not in left_out]


class _Waiter:
    def __init__(self, cut_short: threading.Event) -> None:
        self._cut_short = cut_short

    def until(self, condition: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            if self._cut_short.wait(0.05):
                return
