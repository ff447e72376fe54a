"""The real web server for tests: uvicorn in a process of its own, on the test's database and Redis."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from tests.settings import free_port
from tests.waiting import answers, until

REPO = Path(__file__).resolve().parent.parent


def database_url() -> str:
    """Address of the database that the running test uses, for a child process."""
    fields = connection.settings_dict
    if connection.vendor == "sqlite":
        assert os.path.exists(fields["NAME"]), "the tests' database is no file: see tests/settings.py"
        return f"sqlite:///{fields['NAME']}"
    login = f"{quote(fields['USER'])}:{quote(fields['PASSWORD'])}"
    return f"postgres://{login}@{quote(fields['HOST'], safe='')}:{fields['PORT'] or 5432}/{fields['NAME']}"


@contextmanager
def web_server() -> Iterator[str]:
    """URL of a uvicorn that serves the test's database; stopped at the end.

    The test must commit what the server is to see: `@pytest.mark.django_db(transaction=True)`.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "DATABASE_URL": database_url(), "PUBLIC_URL": url, "SECRET_KEY": settings.SECRET_KEY}
    environment["DJANGO_SETTINGS_MODULE"] = "webapp.settings"  # those of the tests would choose another Redis
    command = [sys.executable, "-m", "uvicorn", "webapp.asgi:application", "--port", str(port)]
    command += ["--log-level", "warning", "--timeout-graceful-shutdown", "2"]
    process = subprocess.Popen(command, cwd=REPO, env=environment)
    try:
        until(lambda: process.poll() is not None or answers(f"{url}/accounts/login/"), 30)
        assert process.poll() is None, "the web server did not start"
        yield url
    finally:
        process.terminate()
        process.wait(15)
