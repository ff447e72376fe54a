"""A browser's EventSource, in a thread: remembers the last id and can come back with it."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from webapp.accounts.models import User


def session_of(user: User) -> dict[str, str]:
    """Cookies of a person who is logged in."""
    from django.test import Client

    client = Client()
    client.force_login(user)
    return {"sessionid": client.cookies["sessionid"].value}


class EventSource:
    def __init__(self, url: str, user: User) -> None:
        self.url, self.cookies = url, session_of(user)
        self.frames: list[dict] = []
        self.last_id = ""
        self.status = 0
        self._socket: socket.socket | None = None

    @contextmanager
    def open(self, after: str = "") -> Iterator["EventSource"]:
        """Connected, with Last-Event-ID when there is one."""
        self.status = 0
        self._socket = None
        client = httpx.Client(cookies=self.cookies, timeout=httpx.Timeout(5, read=20))
        thread = threading.Thread(target=self._read, args=(client, after), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._hang_up()
            thread.join(10)
            client.close()

    def _hang_up(self) -> None:
        if self._socket is not None and self._socket.fileno() >= 0:
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self, client: httpx.Client, after: str) -> None:
        headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
        try:
            with client.stream("GET", self.url, params={"after": after}, headers=headers) as reply:
                self._socket = reply.extensions["network_stream"].get_extra_info("socket")
                self.status = reply.status_code
                for line in reply.iter_lines():
                    self._take(line)
        except (httpx.HTTPError, httpx.StreamError, RuntimeError, ValueError, OSError):
            return  # closed by the test, or cut

    def _take(self, line: str) -> None:
        name, _colon, value = line.partition(": ")
        if name == "id":
            self.last_id = value
        if name == "data":
            self.frames.append(json.loads(value))
