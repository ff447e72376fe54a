"""Runs the agent in the foreground until a signal ends it."""

import fcntl
import logging
import os
import signal
import sys
from pathlib import Path

from trainer_agent.agent import identity
from trainer_agent.agent.daemon import Daemon
from trainer_agent.agent.errors import AgentError
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.join import join


class HomeInUse(AgentError):
    """Another agent runs in this home."""


def serve(home: Path) -> None:
    """Run the node that lives in `home`. First SIGTERM or SIGINT: flush and end; second: end now."""
    node = identity.load(home)
    lock = os.open(home / "agent.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise HomeInUse(f"Another agent already runs in {home}.") from error
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    daemon = Daemon(home, node)
    signalled: list[int] = []

    def on_signal(number: int, _frame: object) -> None:
        if signalled:
            os._exit(128 + number)
        signalled.append(number)
        daemon.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    daemon.run()


def enrol_once(home: Path, url: str, token: str, *, name: str, slots: int | None, python: str) -> tuple[Identity, bool]:
    """This home's identity, and whether it was new: a home that has one keeps it."""
    if identity.path(home).exists():
        return identity.load(home), False
    return join(home, url, token, name=name, slots=slots, python=python), True
