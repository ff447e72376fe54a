"""`python -m tests.lab.delay A B MS`: hands on every frame between two interfaces, MS later, in order.

Frames come and go with their offload header, so that a segment of 64 KB stays one frame and checksums that the kernel
left open are closed where they would have been.
"""

import heapq
import os
import select
import socket
import sys
import time

MODULE = "tests.lab.delay"
_ALL = 0x0003  # ETH_P_ALL
_PACKET, _VNET_HDR, _IGNORE_OUTGOING = 263, 15, 23  # SOL_PACKET and its options
_FORCE_RECEIVE_BUFFER = 33  # SO_RCVBUFFORCE
_FRAME = 80_000
_MOST_AT_ONCE = 64


def main() -> None:
    """Until it is killed, or its parent is gone."""
    parent = os.getppid()
    near, far = sys.argv[1:3]
    delay = float(sys.argv[3]) / 1000
    sockets = [opened(near), opened(far)]
    other = {sockets[0]: sockets[1], sockets[1]: sockets[0]}
    waiting: list[tuple[float, int, socket.socket, bytes]] = []
    number = 0
    while os.getppid() == parent:
        patience = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 1.0
        for ready in select.select(sockets, [], [], patience)[0]:
            due = time.monotonic() + delay
            for frame in arrived(ready):
                number += 1
                heapq.heappush(waiting, (due, number, other[ready], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, out, frame = heapq.heappop(waiting)
            hand_on(out, frame)


def opened(name: str) -> socket.socket:
    """All frames that arrive at this interface, and a way out of it."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
    made.setsockopt(_PACKET, _VNET_HDR, 1)
    made.setsockopt(_PACKET, _IGNORE_OUTGOING, 1)
    made.setsockopt(socket.SOL_SOCKET, _FORCE_RECEIVE_BUFFER, 32 << 20)
    made.bind((name, 0))
    made.setblocking(False)
    return made


def arrived(ready: socket.socket) -> list[bytes]:
    frames: list[bytes] = []
    try:
        while len(frames) < _MOST_AT_ONCE:
            frames.append(ready.recv(_FRAME))
    except BlockingIOError:
        pass
    return frames


def hand_on(out: socket.socket, frame: bytes) -> None:
    """A full queue loses the frame, as a switch would."""
    try:
        out.send(frame)
    except OSError:
        return


if __name__ == "__main__":
    main()
