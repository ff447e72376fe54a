"""The table that the bench prints: what happened when."""

import threading
import time


class Told:
    """Lines with the seconds since the beginning, from any thread."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, what: str, detail: str = "") -> None:
        """One row."""
        with self._lock:
            print(f"{time.monotonic() - self.began:7.1f} s  {what:10} {detail}", flush=True)
