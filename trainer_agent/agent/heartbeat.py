"""Says every two seconds that this node lives, what it holds, and how far its clock is off."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import redis

from trainer_agent.agent.connection import Away, connect
from trainer_agent.agent.sample import Sampler
from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import WIRE_VERSION, AttemptAlive, Heartbeat, Inventory

log = logging.getLogger(__name__)

EVERY = 2.0  # seconds
CLOCK_TRIES = 5  # the quickest round trip is the most exact


@dataclass(frozen=True, slots=True)
class Clock:
    """Server minus node, seconds, give or take `error`."""

    offset: float
    error: float


class Pulse:
    """The heartbeat thread."""

    def __init__(
        self,
        url: str,
        node: str,
        inventory: Callable[[], Inventory],
        sampler: Sampler,
        held: Callable[[], tuple[list[AttemptAlive], str]],
        *,
        trouble: Callable[[], str],
    ) -> None:
        self._client = connect(url)
        self._node = node
        self._inventory = inventory
        self._sampler = sampler
        self._held = held
        self._trouble = trouble

    def run(self, stop: threading.Event) -> None:
        """Until told to stop."""
        while True:
            try:
                self.beat()
            except Away as error:
                log.debug("no heartbeat: %s", error)
            except Exception:
                log.exception("no heartbeat")
            if stop.wait(EVERY):
                return

    def beat(self) -> None:
        """One heartbeat."""
        clock = measure_clock(self._client)
        attempts, dirty = self._held()
        message = Heartbeat(
            v=WIRE_VERSION,
            node=self._node,
            at=time.time(),
            inventory=self._inventory(),
            attempts=attempts,
            clock_offset=clock.offset,
            clock_error=clock.error,
            cpu=self._sampler.host.cpu,
            memory_used=self._sampler.host.memory_used or None,
            dirty=dirty,
            trouble=self._trouble(),
        )
        self._client.set(names.heartbeat(self._node), codec.encode(message), ex=names.HEARTBEAT_TTL)


def measure_clock(client: redis.Redis) -> Clock:
    """Redis TIME between two local stamps; the smallest round trip of a few wins."""
    found = []
    for _ in range(CLOCK_TRIES):
        before, began = time.time(), time.monotonic()
        seconds, micros = client.time()
        trip = time.monotonic() - began
        found.append(Clock(seconds + micros / 1e6 - (before + trip / 2), trip / 2))
    return min(found, key=lambda clock: clock.error)
