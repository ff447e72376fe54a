"""What the kernel counts for each TCP connection of this machine, asked over netlink (`man 7 sock_diag`)."""

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

SOCK_DIAG = 4  # netlink family
BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_ERROR, _DONE = 2, 3
_ESTABLISHED = 1 << 1
_INFO = 2  # attribute with struct tcp_info
_HEADER = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBBI48x")
_ANSWER = struct.Struct("=4s4s16s16s4s8s16sI")  # ports in the second field, inode last
_ATTRIBUTE = struct.Struct("=HH")
_RTT, _BUSY, _RWND_LIMITED, _SENT = 68, 168, 176, 200  # offsets in struct tcp_info
_KNOWN_FROM = 216  # bytes of it that a kernel from 4.19 on fills
_PATIENCE_S = 1.0
_BUFFER = 1 << 16


@dataclass(frozen=True, slots=True)
class Connection:
    """Counters since the connection began. `key` tells it from every other; `busy` seconds with something to send,
    without those in which the other end had no room; `rtt` seconds."""

    key: bytes
    inode: int
    peer: str
    busy: float
    sent: int
    retransmitted: int
    rtt: float


def connections() -> list[Connection]:
    """The established ones; OSError where the kernel does not tell."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel:
        kernel.settimeout(_PATIENCE_S)
        return [one for family in (socket.AF_INET, socket.AF_INET6) for one in _ask(kernel, family)]


def _ask(kernel: socket.socket, family: int) -> Iterator[Connection]:
    question = _QUESTION.pack(family, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0, _ESTABLISHED)
    kernel.send(_HEADER.pack(_HEADER.size + len(question), BY_FAMILY, _REQUEST_DUMP, 0, 0) + question)
    while True:
        data, at = kernel.recv(_BUFFER), 0
        while at + _HEADER.size <= len(data):
            length, kind = _HEADER.unpack_from(data, at)[:2]
            if kind == _DONE:
                return
            if kind == _ERROR or length < _HEADER.size:
                raise OSError("the kernel does not tell about connections")
            found = read(data[at + _HEADER.size : at + length])
            if found is not None:
                yield found
            at += _aligned(length)


def read(message: bytes) -> Connection | None:
    """One `inet_diag_msg` with its attributes; None when it has no counters."""
    head, _ports, _source, target, _interface, cookie, _queues, inode = _ANSWER.unpack_from(message)
    at = _ANSWER.size
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        if length < _ATTRIBUTE.size:
            return None
        info = message[at + _ATTRIBUTE.size : at + length]
        if kind == _INFO and len(info) >= _KNOWN_FROM:
            (rtt,) = struct.unpack_from("=I", info, _RTT)
            busy, no_room = struct.unpack_from("=QQ", info, _BUSY)
            sent, again = struct.unpack_from("=QQ", info, _SENT)
            return Connection(
                cookie, inode, _address(head[0], target), max(0, busy - no_room) / 1e6, sent, again, rtt / 1e6
            )
        at += _aligned(length)
    return None


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _address(family: int, raw: bytes) -> str:
    if family == socket.AF_INET:
        return socket.inet_ntop(socket.AF_INET, raw[:4])
    return socket.inet_ntop(socket.AF_INET6, raw).removeprefix("::ffff:")
