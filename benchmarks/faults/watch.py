"""Compares what the API says of each run with the processes that there are, all the time."""

import threading
from collections.abc import Callable
from typing import Any

from benchmarks.faults.asking import ask_once
from benchmarks.faults.attacked import Attacked
from benchmarks.faults.living import living, what
from benchmarks.faults.runs import Planned
from benchmarks.faults.told import Told

EVERY_S = 0.5
LOOKED_BACK = 3  # ended runs that are looked at again each time


class Watch:
    """A thread; `wrong` names every lie that it saw, each once."""

    def __init__(self, attacked: Attacked, begun: Callable[[], list[Planned]], told: Told) -> None:
        self._attacked = attacked
        self._begun = begun
        self._told = told
        self._stop = threading.Event()
        self._outcomes: dict[tuple[str, int], tuple[str, str]] = {}
        self.wrong: list[str] = []
        self._thread = threading.Thread(target=self._go, name="watch", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """The thread has ended."""
        self._stop.set()
        self._thread.join()

    def note(self, lie: str) -> None:
        """Remember it, and say so at once."""
        if lie not in self.wrong:
            self.wrong.append(lie)
            self._told("WRONG", lie)

    def _go(self) -> None:
        while not self._stop.wait(EVERY_S):
            for planned in self._begun()[-LOOKED_BACK:]:
                reply = ask_once(self._attacked.product, "GET", f"runs/{planned.uid}")
                if reply is not None:
                    self.look(planned.uid, reply.json(), living().get(planned.uid, []))

    def look(self, uid: str, run: dict[str, Any], pids: list[int]) -> None:
        """`pids` were seen alive after the server had answered."""
        if run["status"] == "ended" and pids:
            self._told("alive", "; ".join(what(pid) for pid in pids))
            self.note(f"{uid} is ended ({run['outcome']} {run['reason']}), but processes of it live")
        told = (str(run["outcome"] or ""), str(run["cause"] or ""))
        before = self._outcomes.setdefault((uid, run["attempt"]), told)
        if before[0] and told != before:
            self.note(f"{uid} attempt {run['attempt']} was {' '.join(before)} and is now {' '.join(told)}")
        self._outcomes[(uid, run["attempt"])] = told if told[0] else before
