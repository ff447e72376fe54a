"""A connection to a public address only: the name is resolved once, and what was checked is what is connected to."""

import socket
import time
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from ssl import SSLContext
from typing import Any

import httpcore
from django.conf import settings
from django.utils.translation import gettext as _

LIMIT_S = 10.0
_TRANSLATED = [IPv6Network(net) for net in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96")]


class Refused(Exception):
    """The address is not one that we send to; the text is for people."""


class PublicOnly(httpcore.NetworkBackend):
    """Connects where `check` allows it, and gives a request LIMIT_S seconds in all."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + LIMIT_S

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        address = resolve(host, port)
        stream = httpcore.SyncBackend().connect_tcp(address, port, self.left(), local_address, socket_options)
        return _Hurried(stream, self)

    def left(self) -> float:
        """Seconds until the request is given up."""
        return max(0.01, self._deadline - time.monotonic())


def resolve(host: str, port: int) -> str:
    """The first address of a name, if all of them may be sent to; else Refused. OSError: there is none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        check(address)
    return addresses[0]


def check(address: str) -> None:
    """Refused for private, loopback, link-local and other addresses that are not the internet's."""
    if settings.ALLOW_PRIVATE_WEBHOOKS or is_public(ip_address(address.partition("%")[0])):
        return
    raise Refused(
        _("%s is an address of a private network. The server's setting ALLOW_PRIVATE_WEBHOOKS allows it.") % address
    )


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether anybody on the internet could be meant. An IPv4 address within an IPv6 one counts as private."""
    if isinstance(address, IPv6Address) and any(address in net for net in _TRANSLATED):
        return False
    if isinstance(address, IPv6Address) and (address.ipv4_mapped is not None or address.is_site_local):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


class _Hurried(httpcore.NetworkStream):
    """A stream whose reads and writes all end with the request's time."""

    def __init__(self, stream: httpcore.NetworkStream, backend: PublicOnly) -> None:
        self._stream, self._backend = stream, backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._backend.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._backend.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Hurried(self._stream.start_tls(ssl_context, server_hostname, self._backend.left()), self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
