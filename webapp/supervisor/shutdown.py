"""Stop everything of one home within ten seconds, runs first, Redis last, and prove that nothing is left."""

import signal
import threading
import time
from collections.abc import Callable, Sequence

from webapp.supervisor import own_server
from webapp.supervisor.environment import Place
from webapp.supervisor.leftovers import kill_all_of
from webapp.supervisor.local_runs import hurry_shims, shim_pids
from webapp.supervisor.part import Part

# Seconds after the signal by which each is gone; what is not is killed.
_RANKS_BY = 4.0
_RUNS_ENDED_BY = 5.5
_PARTS_BY = 7.8
_REDIS_BY = 8.5
_KILLED_S = 0.5


def stop_everything(place: Place, parts: Sequence[Part], kill_now: threading.Event) -> list[int]:
    """Returns the pids that could not be ended; `kill_now` cuts every wait short."""
    wait = _Waiter(kill_now)
    if not kill_now.is_set() and shim_pids(place.home):
        _stop_runs(place, wait)
    place.home.connection.unlink(missing_ok=True)
    redis = [part for part in parts if part.name == "redis"]
    _end([part for part in parts if part not in redis], wait, _PARTS_BY)
    _end(redis, wait, _REDIS_BY)
    return kill_all_of(place.home, _KILLED_S)


def _stop_runs(place: Place, wait: "_Waiter") -> None:
    """The server writes down first that they are stopped; then the shims get less time than the runs would have."""
    stopped = own_server.stop_runs_on(place.home, place.node_names)
    wait.until(lambda: not hurry_shims(place.home), _RANKS_BY)
    wait.until(lambda: all(own_server.has_ended(place.home, run) for run in stopped), _RUNS_ENDED_BY)


def _end(parts: list[Part], wait: "_Waiter", by: float) -> None:
    for part in parts:
        part.signal(signal.SIGTERM)
    wait.until(lambda: not any(part.alive for part in parts), by)
    for part in parts:
        part.kill()


class _Waiter:
    """Waits until moments counted from its making, in seconds."""

    def __init__(self, cut_short: threading.Event) -> None:
        self._cut_short = cut_short
        self._began = time.monotonic()

    def until(self, condition: Callable[[], bool], by: float) -> None:
        while time.monotonic() - self._began < by and not condition():
            if self._cut_short.wait(0.05):
                return
