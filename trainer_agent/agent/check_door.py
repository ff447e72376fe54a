"""Where the other nodes of a check come in: two listening ports, open for whoever shows the check's token.

One listens on a rendezvous port, as the first node's launcher will, one on any port, as NCCL and gloo do. A caller's
first line is its token, its place and what the connection is for; then it waits until this node has time for it.
"""

import contextlib
import hmac
import random
import selectors
import socket
import threading
import time
from collections.abc import Sequence

Caller = tuple[int, str]  # place, and what for
LONGEST_LINE = 200
SHOWN_IN = 2.0  # seconds that a caller has for its first line
MOST_WAITING = 64  # callers at a time, so that strangers take no more
TICK = 0.25


class Door:
    """Open from the start until `close`; `wait_for` hands out callers."""

    def __init__(self, token: str, ports: Sequence[int], lasts: float) -> None:
        self._token = token
        self._until = time.monotonic() + lasts
        self._news = threading.Condition()
        self._callers: dict[Caller, socket.socket] = {}
        self._room = threading.Semaphore(MOST_WAITING)
        self._closed = False
        self._listening = [one for one in (_listen_in(ports), _listen_on(0)) if one is not None]
        self.meeting_port: int = self._listening[0].getsockname()[1] if len(self._listening) == 2 else 0
        self.port: int = self._listening[-1].getsockname()[1]
        threading.Thread(target=self._run, daemon=True, name="check-door").start()

    def wait_for(self, place: int, purpose: str, until: float) -> socket.socket | None:
        """The connection of that node for that purpose; None when it has not come by `until` (monotonic)."""
        with self._news:
            self._news.wait_for(
                lambda: self._closed or (place, purpose) in self._callers, max(0.0, until - time.monotonic())
            )
            return self._callers.pop((place, purpose), None)

    def close(self) -> None:
        """Listen no more; who waits is sent away. Safe to call twice."""
        with self._news:
            self._closed = True
            left, self._callers = list(self._callers.values()), {}
            self._news.notify_all()
        for caller in left:
            caller.close()

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for one in self._listening:
                selector.register(one, selectors.EVENT_READ)
            while not self._closed and time.monotonic() < self._until:
                for key, _events in selector.select(TICK):
                    self._let_in(key.fileobj)  # type: ignore[arg-type]
        for one in self._listening:
            one.close()
        self.close()

    def _let_in(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            caller, _address = listening.accept()
            if not self._room.acquire(blocking=False):
                caller.close()
                return
            threading.Thread(target=self._receive, args=(caller,), daemon=True, name="check-caller").start()

    def _receive(self, caller: socket.socket) -> None:
        try:
            known = self._introduced(caller)
        finally:
            self._room.release()
        if known is None:
            caller.close()
            return
        with self._news:
            before = caller if self._closed else self._callers.pop(known, None)
            if not self._closed:
                self._callers[known] = caller
            self._news.notify_all()
        if before is not None:
            before.close()

    def _introduced(self, caller: socket.socket) -> Caller | None:
        """Who calls and what for; None for who has not the token."""
        try:
            caller.settimeout(SHOWN_IN)
            token, place, purpose = _line(caller).decode("ascii").split()
            known = hmac.compare_digest(token, self._token)
            return (int(place), purpose) if known else None
        except (OSError, ValueError):
            return None


def call(address: str, port: int, introduction: str, until: float) -> socket.socket:
    """A connection to another node's door, introduced; OSError when there is none by `until` (monotonic)."""
    connection = socket.create_connection((address, port), timeout=max(0.05, until - time.monotonic()))
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"{introduction}\n".encode())
    except OSError:
        connection.close()
        raise
    return connection


def _line(caller: socket.socket) -> bytes:
    """Byte by byte: what follows the line is not ours to take."""
    line = bytearray()
    while len(line) < LONGEST_LINE:
        byte = caller.recv(1)
        if byte in (b"", b"\n"):
            return bytes(line)
        line += byte
    raise ValueError("the line is too long")


def _listen_in(ports: Sequence[int]) -> socket.socket | None:
    """On a free one of a range of ports, by chance; None when all are taken or may not be used."""
    choices = list(range(ports[0], ports[-1] + 1)) if ports else []
    for port in random.sample(choices, min(len(choices), 50)):
        with contextlib.suppress(OSError):
            return _listen_on(port)
    return None


def _listen_on(port: int) -> socket.socket:
    return socket.create_server(("", port), backlog=MOST_WAITING)
