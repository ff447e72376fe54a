"""Measures the link between this node and others over TCP: round trips, then data one way, then the other.

Of a pair the node of the higher place calls: so the first node, where ranks meet, is called by all. Each of the two
measures what arrives; the caller also the round trips.
"""

import contextlib
import errno
import select
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainer_agent.agent.check_door import Door, call

TRIPS, TRIPS_TAKE = 16, 0.05  # round trips, and seconds after which no more are made
WARM = 0.2  # share of the window that is not counted: connections begin slowly
MOST_BYTES = 256 * 1024 * 1024  # in one window
PIECE = 1 << 20
GO, PING, DONE = b"G", b"P", b"."
_REFUSED = {errno.ECONNREFUSED: "refused", errno.EHOSTUNREACH: "unreachable", errno.ENETUNREACH: "unreachable"}


@dataclass(frozen=True, slots=True)
class Peer:
    """Another node, and where it listens."""

    node: str
    address: str
    port: int
    meeting_port: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Whom to measure when; see messages.ProbePeers."""

    token: str
    place: int
    peers: Sequence[Peer]
    turns: Sequence[int]
    limit: float
    window: float


def measure(plan: Plan, door: Door, began: float) -> dict[str, dict[str, Any]]:
    """Other node -> {mb_s, rtt_ms, error, meeting}; what is not known is left out. `began`: monotonic."""
    found: dict[str, dict[str, Any]] = {}
    for turn, place in enumerate(plan.turns):
        if place < 0:
            continue
        until = began + plan.limit * (turn + 1)
        peer = plan.peers[place]
        one = _call(plan, peer, until) if plan.place > place else _answer(plan, door, place, until)
        if one:
            found[peer.node] = one
    return found


def _call(plan: Plan, peer: Peer, until: float) -> dict[str, Any]:
    """This node's part as the caller. First by the rendezvous port, then by any: one of them may be closed."""
    found: dict[str, Any] = {}
    for name, port in (("meeting", peer.meeting_port), ("error", peer.port)):
        if not port:
            continue
        try:
            talk = call(peer.address, port, f"{plan.token} {plan.place} talk", _half_way(until))
        except OSError as error:
            found[name] = _word(error)
            continue
        with talk:
            return found | _talk(plan, peer, talk, until)
    return found


def _talk(plan: Plan, peer: Peer, talk: socket.socket, until: float) -> dict[str, Any]:
    """Both are connected. A node that comes to it too late says nothing about the link."""
    talk.settimeout(max(0.05, until - time.monotonic()))
    try:
        if talk.recv(1) != GO:
            return {"error": "late"}
        found = {"rtt_ms": 1000 * _round_trip(talk)}
    except OSError as error:
        return {"error": "late" if isinstance(error, TimeoutError) else _word(error)}
    return found | _data_of_caller(plan, peer, until)


def _data_of_caller(plan: Plan, peer: Peer, until: float) -> dict[str, Any]:
    try:
        with call(peer.address, peer.port, f"{plan.token} {plan.place} up", until) as up:
            _pour(up, plan.window, until)
        with call(peer.address, peer.port, f"{plan.token} {plan.place} down", until) as down:
            return {"mb_s": _arriving(down, plan.window, until)}
    except OSError as error:
        return {"error": _word(error)}


def _answer(plan: Plan, door: Door, place: int, until: float) -> dict[str, Any]:
    """This node's part as the one that is called. Whether a call comes is the caller's to tell."""
    found: dict[str, Any] = {}
    with contextlib.suppress(OSError):
        talk = door.wait_for(place, "talk", until)
        if talk is None:
            return found
        with talk:
            talk.sendall(GO)
            _echo(talk, until)
        up = door.wait_for(place, "up", until)
        if up is not None:
            with up:
                found["mb_s"] = _arriving(up, plan.window, until)
        down = door.wait_for(place, "down", until)
        if down is not None:
            with down:
                _pour(down, plan.window, until)
    return found


def _round_trip(talk: socket.socket) -> float:
    """Seconds of the quickest of some: what the network needs, without the scheduler's chance."""
    quickest, began = float("inf"), time.monotonic()
    for _trip in range(TRIPS):
        sent = time.perf_counter()
        talk.sendall(PING)
        if not talk.recv(1):
            raise ConnectionResetError(errno.ECONNRESET, "closed")
        quickest = min(quickest, time.perf_counter() - sent)
        if time.monotonic() - began > TRIPS_TAKE:
            break
    talk.sendall(DONE)
    return quickest


def _echo(talk: socket.socket, until: float) -> None:
    talk.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    talk.settimeout(max(0.05, until - time.monotonic()))
    while (byte := talk.recv(1)) == PING:
        talk.sendall(byte)


def _pour(connection: socket.socket, window: float, until: float) -> None:
    """Send until the other end has had enough and closes."""
    data = memoryview(bytes(PIECE))
    stop = min(until, time.monotonic() + 4 * window + 1.0)
    connection.setblocking(False)
    with contextlib.suppress(ConnectionError):
        while (left := stop - time.monotonic()) > 0:
            if select.select([], [connection], [], left)[1]:
                connection.send(data)


def _arriving(connection: socket.socket, window: float, until: float) -> float:
    """MB/s over the window, without its beginning; then closes hard, so that nothing more is sent."""
    buffer = bytearray(PIECE)
    connection.settimeout(max(0.05, until - time.monotonic()))
    if not connection.recv_into(buffer):
        raise ConnectionResetError(errno.ECONNRESET, "closed")
    began = counted_from = time.perf_counter()
    total, counts = 0, False
    while (now := time.perf_counter()) - began < window and total < MOST_BYTES:
        if not counts and now - began >= WARM * window:
            total, counts, counted_from = 0, True, now
        if select.select([connection], [], [], began + window - now)[0]:
            read = connection.recv_into(buffer)
            if not read:
                raise ConnectionResetError(errno.ECONNRESET, "closed")
            total += read
    took = time.perf_counter() - counted_from
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return total / took / 1e6


def _half_way(until: float) -> float:
    """So that a second port can be tried."""
    return (time.monotonic() + until) / 2


def _word(error: OSError) -> str:
    return "silent" if isinstance(error, TimeoutError) else _REFUSED.get(error.errno or 0, "broken")
