"""A way to a server of this machine that counts what comes back, and may break in the middle of it."""

import contextlib
import select
import socket
import threading
from collections.abc import Iterator

_AT_ONCE = 65536


class Way:
    """`came`: bytes that came back. Each connection breaks once `most` have come over it."""

    def __init__(self, port: int, most: int | None) -> None:
        self._target, self._most = port, most
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.came = self.connections = 0

    def open(self) -> None:
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                self.connections += 1
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        left = self._most
        with near, socket.create_connection(("127.0.0.1", self._target)) as far, contextlib.suppress(OSError):
            while left is None or left > 0:
                for source in select.select([near, far], [], [])[0]:
                    data = source.recv(_AT_ONCE if source is near or left is None else min(left, _AT_ONCE))
                    if not data:
                        return
                    if source is far:
                        self.came += len(data)
                        left = left if left is None else left - len(data)
                    (far if source is near else near).sendall(data)


@contextlib.contextmanager
def way_to(url: str, *, most: int | None = None) -> Iterator[Way]:
    """To the server at `url`."""
    way = Way(int(url.rpartition(":")[2]), most)
    way.open()
    yield way
    way.close()
