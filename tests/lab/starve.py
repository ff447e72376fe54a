"""A process that gets the processor for a part of the time only, as under a quota or beside a greedy neighbour."""

import contextlib
import os
import signal
import threading

_PERIOD_S = 0.02


class Starved:
    """SIGSTOP for `share` of each 20 ms, from `begin` to `end`."""

    def __init__(self, pid: int, share: float) -> None:
        self._pid = pid
        self._share = share
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go, name="starve", daemon=True)

    def begin(self) -> None:
        """From now on."""
        self._thread.start()

    def end(self) -> None:
        """It goes on as before."""
        self._over.set()
        self._thread.join()

    def _go(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            try:
                while not self._over.wait(_PERIOD_S * (1 - self._share)):
                    os.kill(self._pid, signal.SIGSTOP)
                    self._over.wait(_PERIOD_S * self._share)
                    os.kill(self._pid, signal.SIGCONT)
            finally:
                os.kill(self._pid, signal.SIGCONT)
