"""TCP connections of a process whose bytes the other end does not acknowledge, from /proc/<pid>/net/tcp."""

import contextlib
import os
import socket
import struct
from dataclasses import dataclass

ESTABLISHED = 1
RETRANSMITTING = 1  # kind of the timer that runs


@dataclass(frozen=True, slots=True)
class Stuck:
    """`waiting` bytes were sent `tries` times to `peer` and never acknowledged."""

    peer: str
    port: int
    waiting: int
    tries: int


def stuck(pid: int) -> list[Stuck]:
    """Those of this process now."""
    mine = inodes(pid)
    found: list[Stuck] = []
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            found += [one for line in list(file)[1:] if (one := _read(line, mine)) is not None]
    return found


def inodes(pid: int) -> set[str]:
    """Numbers of the sockets that a process has open."""
    found = set()
    with contextlib.suppress(OSError):
        for entry in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(f"/proc/{pid}/fd/{entry}")
                if target.startswith("socket:["):
                    found.add(target[8:-1])
    return found


def _read(line: str, mine: set[str]) -> Stuck | None:
    fields = line.split()
    peer, state, queues, timer, tries = fields[2], fields[3], fields[4], fields[5], fields[6]
    waiting = int(queues.partition(":")[0], 16)
    if fields[9] not in mine or int(state, 16) != ESTABLISHED or not waiting or not int(tries, 16):
        return None
    if int(timer.partition(":")[0], 16) != RETRANSMITTING:
        return None
    address, _, port = peer.partition(":")
    return Stuck(_address(address), int(port, 16), waiting, int(tries, 16))


def _address(text: str) -> str:
    """The kernel prints 32-bit words of the address in the machine's own order."""
    raw = b"".join(struct.pack("=I", int(text[i : i + 8], 16)) for i in range(0, len(text), 8))
    if len(raw) == 4:
        return socket.inet_ntop(socket.AF_INET, raw)
    return socket.inet_ntop(socket.AF_INET6, raw).removeprefix("::ffff:")
