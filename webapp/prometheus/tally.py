"""How many requests there were and how long they took: counted in this process, added up in Redis for all of them."""

import json
import threading
import time
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

import redis

from trainer_agent.wire import names

BOUNDS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # seconds; a last one without a bound follows
SUM = "us"  # the cell beside the bounds' numbers: microseconds in all
_PUSH_EVERY_S = 5.0
Cells = Counter[tuple[str, str, str, str]]  # method, route, status, cell


@dataclass
class Tally:
    """What this process has not yet added in Redis."""

    _cells: Cells = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pushed: float = field(default_factory=time.monotonic)

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request."""
        with self._lock:
            self._cells[method, route, str(status), str(bisect_left(BOUNDS, seconds))] += 1
            self._cells[method, route, str(status), SUM] += round(seconds * 1e6)

    def push_if_due(self, client: redis.Redis) -> None:
        """Every few seconds."""
        if time.monotonic() - self._pushed >= _PUSH_EVERY_S:
            self.push(client)

    def push(self, client: redis.Redis) -> None:
        """Add it in Redis. While that is away it is kept, for the next time."""
        with self._lock:
            cells, self._cells = self._cells, Counter()
            self._pushed = time.monotonic()
        if not cells:
            return
        pipe = client.pipeline(transaction=True)
        for name, number in cells.items():
            pipe.hincrby(names.http_requests(), json.dumps(name), number)
        try:
            pipe.execute()
        except redis.RedisError:
            with self._lock:
                self._cells += cells


def stored(client: redis.Redis) -> Cells:
    """What all processes have added."""
    found: dict[bytes, bytes] = client.hgetall(names.http_requests())  # type: ignore[assignment]
    return Counter({tuple(json.loads(name)): int(number) for name, number in found.items()})


OF_THIS_PROCESS = Tally()
