"""The command line, the web server and ingest, on the test's database."""

import threading
from collections.abc import Iterator

import pytest
from django.db import connections

from tests.cli.conftest import cli, ed, environment, paceline
from workers.ingest.loop import Ingest

__all__ = ["cli", "ed", "environment", "paceline"]


@pytest.fixture
def ingest(ed: object) -> Iterator[None]:
    """An ingest process's loop, in a thread."""
    stop = threading.Event()

    def serve() -> None:
        Ingest().run(stop)
        connections.close_all()

    thread = threading.Thread(target=serve)
    thread.start()
    yield
    stop.set()
    thread.join(30)
