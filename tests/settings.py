"""Settings for tests: those of the product, in a home and with a Redis that belong to this session of tests.

pytest-django reads the settings before any conftest, so the environment is set here.
"""

import contextlib
import os
import socket
import tempfile
from pathlib import Path


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def quiet_port() -> int:
    """The same, of those that nobody gets who asks for any."""
    for port in range(20_000 + os.getpid() % 12_000, 32_700):
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port
    return free_port()


# In memory where there is such a folder: every last connection that closes would wait for a disk.
TEST_HOME = tempfile.mkdtemp(prefix="paceline-test-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
# Below the ports that the system hands out: another session of tests must not get it before our Redis has started.
TEST_REDIS_PORT = quiet_port()
(Path(TEST_HOME) / "static").mkdir()
os.environ["PACELINE_HOME"] = TEST_HOME
os.environ["SECRET_KEY"] = "a-key-for-tests"
os.environ["REDIS_URL"] = f"redis://127.0.0.1:{TEST_REDIS_PORT}/0"

from webapp.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["tests.fast_hasher.FastHasher"]
# A file for SQLite, so that threads, servers and child processes of a test see the same database. Not in a fixture of a
# conftest, which a file of tests elsewhere has not got: its server would open an empty file, memorydb_default.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    DATABASES["default"]["TEST"] = {"NAME": str(Path(TEST_HOME) / "test.sqlite3")}  # noqa: F405
