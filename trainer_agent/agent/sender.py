"""Sends spooled batches in order and learns what the database has. A thread of its own: Redis may be away for days."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from trainer_agent.agent.connection import Away, Patience, connect
from trainer_agent.agent.spool import Spool
from trainer_agent.wire import names

log = logging.getLogger(__name__)

WINDOW = 64  # batches sent and not acknowledged
WINDOW_BYTES = 16 * 1024 * 1024  # bytes of one round
RESEND_AFTER, LONGEST_RESEND = 5.0, 30.0  # seconds without an acknowledgement
LOOK_EVERY = 0.1  # seconds
KEEP_IN_STREAM = 2 * WINDOW  # a resend while nobody reads must not fill Redis


@dataclass(slots=True)
class Flight:
    """What is under way of one spool: go-back-N."""

    sent: int
    progress_at: float
    patience: float = RESEND_AFTER

    def acknowledged(self, seq: int, before: int, now: float) -> None:
        """The database has `seq`; it had `before`."""
        if seq > before:
            self.progress_at, self.patience = now, RESEND_AFTER
        self.sent = max(self.sent, seq)

    def room(self, acked: int, now: float) -> int:
        """How many more may be sent now; after too long a silence everything unacknowledged is sent again."""
        if self.sent == acked:
            self.progress_at = now
        elif now - self.progress_at > self.patience:
            self.sent, self.progress_at = acked, now
            self.patience = min(self.patience * 2, LONGEST_RESEND)
        return WINDOW - (self.sent - acked)


class Sender:
    """Carries the spools of all attempts of this node."""

    def __init__(self, url: str, node: str, spools: Callable[[], dict[int, Spool]]) -> None:
        self._client = connect(url)
        self._node = node
        self._spools = spools
        self._flights: dict[int, Flight] = {}
        self._one_at_a_time = threading.Lock()
        self.wake = threading.Event()
        self.connected = False

    def run(self, stop: threading.Event) -> None:
        """Until told to stop."""
        patience = Patience()
        while not stop.is_set():
            self.wake.wait(LOOK_EVERY)
            self.wake.clear()
            try:
                with self._one_at_a_time:
                    self._round(time.monotonic())
                patience.worked()
                self._note_connected(True)
            except Away as error:
                self._note_connected(False, error)
                stop.wait(patience.failed())
            except Exception:
                log.exception("could not send")
                stop.wait(patience.failed())

    @property
    def has_more(self) -> bool:
        """Whether a batch has not even been sent once since this agent began."""
        flights = self._flights
        return any(s.unacked and (k not in flights or flights[k].sent < s.last_seq) for k, s in self._spools().items())

    def flush(self) -> None:
        """One round now, from the thread that ends the agent."""
        try:
            with self._one_at_a_time:
                self._round(time.monotonic())
        except Away as error:
            self._note_connected(False, error)

    def _round(self, now: float) -> None:
        """Take acknowledgements, then send what there is room for."""
        spools = {attempt: spool for attempt, spool in self._spools().items() if spool.unacked}
        self._flights = {attempt: f for attempt, f in self._flights.items() if attempt in spools}
        if not spools:
            return
        acks = self._client.hgetall(names.acks(self._node))
        for attempt, spool in spools.items():
            before = spool.acked
            spool.acknowledge(_number(acks.get(str(attempt).encode())))
            flight = self._flights.setdefault(attempt, Flight(spool.acked, now))
            flight.acknowledged(spool.acked, before, now)
            self._send(attempt, spool, flight, now)

    def _send(self, attempt: int, spool: Spool, flight: Flight, now: float) -> None:
        try:
            entries = spool.read(flight.sent, max(0, flight.room(spool.acked, now)), WINDOW_BYTES)
        except OSError as error:  # a bad disk: what it does not hold for sure is not sent; the other spools go on
            log.warning("attempt %d: the spool cannot be read: %s", attempt, error)
            return
        if not entries:
            return
        pipe = self._client.pipeline(transaction=False)
        for _, body in entries:
            pipe.xadd(
                names.telemetry(attempt, self._node), {names.FIELD: body}, maxlen=KEEP_IN_STREAM, approximate=False
            )
        pipe.execute()
        flight.sent = entries[-1][0]

    def _note_connected(self, connected: bool, error: Exception | None = None) -> None:
        if connected != self.connected:
            self.connected = connected
            log.info("connected to the server's Redis") if connected else log.warning("Redis is away: %s", error)


def _number(value: bytes | str | None) -> int:
    try:
        return int(value or 0)
    except ValueError:
        return 0
