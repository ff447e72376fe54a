import threading
from collections.abc import Iterator

import pytest

from tests import builders
from tests.ingest.node import FakeNode
from webapp.live import watched
from workers.ingest.loop import Ingest


@pytest.fixture
def attempt(transactional_db, redis_client):
    """Somebody looks at it, so that frames are made."""
    made = builders.running_attempt()
    watched.note(made.run.uid)
    return made


@pytest.fixture
def nodes(attempt, redis_client) -> list[FakeNode]:
    return [FakeNode(redis_client, attempt, part) for part in attempt.parts.all()]


@pytest.fixture
def ingest() -> Iterator[Ingest]:
    """An ingest process's loop, to be turned by hand."""
    made = Ingest()
    yield made
    stop = threading.Event()
    stop.set()
    made.run(stop)
