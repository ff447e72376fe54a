"""Whether the rendezvous port is free, and who has it if not."""

import contextlib
import errno
import socket

import psutil

from trainer_agent.agent.errors import CannotPrepare


def require_free(port: int) -> None:
    """CannotPrepare("port_in_use") with the holder's name when somebody listens there."""
    for family, address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):  # noqa: S104
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CannotPrepare("port_in_use", f"Port {port} is in use by {holder(port)}.") from error


def holder(port: int) -> str:
    """The program that listens on the port, as far as this user may see it."""
    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections(kind="tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            if listens and connection.pid:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    return "another program"
