"""A node's part in a check before a run: it tells of itself, opens a door, measures its links, tells those."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt, wait_fixed

from trainer_agent.agent import check_facts
from trainer_agent.agent.check_door import Door
from trainer_agent.agent.gpu import Gpus
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.link_probe import Peer, Plan, measure
from trainer_agent.wire.messages import OpenCheck, ProbePeers

log = logging.getLogger(__name__)

TIMEOUT = 5.0  # seconds
TRIES, PAUSE = 4, 1.0
MOST_DOORS = 4  # checks at a time; the oldest is closed for a newer one


class Checks:
    """Takes both orders of a check; all work is done in threads, none of it in the agent's loop."""

    def __init__(self, identity: Identity, home: Path, gpus: Gpus) -> None:
        self._identity = identity
        self._home = home
        self._gpus = gpus
        self._doors: dict[int, tuple[OpenCheck, Door]] = {}
        self._one_at_a_time = threading.Lock()  # two measurements beside each other would disturb both

    def take(self, order: OpenCheck | ProbePeers) -> None:
        """Begin what the order says."""
        began = time.monotonic()
        if isinstance(order, OpenCheck):
            door = self._open(order)
            self._begin(lambda: self._tell_of_itself(order, door))
        elif order.check in self._doors:
            opened, door = self._doors[order.check]
            self._begin(lambda: self._measure(order, opened.token, door, began))

    def close(self) -> None:
        """The agent ends."""
        for _order, door in self._doors.values():
            door.close()

    def _open(self, order: OpenCheck) -> Door:
        while len(self._doors) >= MOST_DOORS:
            self._doors.pop(next(iter(self._doors)))[1].close()
        door = Door(order.token, order.ports, order.lasts)
        self._doors[order.check] = (order, door)
        return door

    def _tell_of_itself(self, order: OpenCheck, door: Door) -> None:
        identity = self._identity
        found = check_facts.facts(order.folder, self._home, identity.python, self._gpus)
        told = {"port": door.port, "meeting_port": door.meeting_port, "facts": found}
        self._tell(order.check, "opened", told)

    def _measure(self, order: ProbePeers, token: str, door: Door, began: float) -> None:
        peers = [Peer(one.node, one.address, one.port, one.meeting_port) for one in order.peers]
        plan = Plan(token, order.place, peers, order.turns, order.limit, order.window)
        with self._one_at_a_time:
            links = measure(plan, door, began)
        self._tell(order.check, "measured", {"stage": order.stage, "links": links})

    def _begin(self, work: Callable[[], None]) -> None:
        threading.Thread(target=_logged, args=(work,), daemon=True, name="check").start()

    def _tell(self, check: int, what: str, body: dict[str, Any]) -> None:
        """POST it; the server goes on without it when it does not arrive."""
        url = f"{self._identity.url}/agent/v1/checks/{check}/{what}"
        tries = Retrying(
            retry=retry_if_exception_type(httpx.HTTPError), stop=stop_after_attempt(TRIES), wait=wait_fixed(PAUSE)
        )
        try:
            tries(self._post, url, body)
        except RetryError as error:
            log.warning("check %d: the server did not take the answer: %s", check, error.last_attempt.exception())

    def _post(self, url: str, body: dict[str, Any]) -> None:
        headers = {"Authorization": f"Bearer {self._identity.token}"}
        answer = httpx.post(url, json=body, headers=headers, timeout=TIMEOUT)
        if answer.status_code >= 500:
            answer.raise_for_status()


def _logged(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:
        log.exception("a check went wrong")
