"""`python -m tests.postgres ARGS…`: pytest with ARGS on a PostgreSQL of its own, for the tests that use a database.

PostgreSQL refuses to run as root, so there it runs as the user `postgres`, which its package makes.
"""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def main(arguments: list[str]) -> int:
    with postgres() as url:
        environment = {**os.environ, "DATABASE_URL": url}
        return subprocess.call(
            [sys.executable, "-m", "pytest", "-p", "tests.with_database", *arguments], env=environment
        )


@contextmanager
def postgres(kept: Path | None = None) -> Iterator[str]:
    """URL of a running server with an empty database, or with the one in the folder `kept`, which stays."""
    folder = kept or Path(tempfile.mkdtemp(prefix="paceline-postgres-"))
    folder.mkdir(exist_ok=True)
    if os.getuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    data, port = folder / "data", _free_port()
    try:
        if not data.exists():
            _run("initdb", "--pgdata", data, "--username", "paceline", "--auth", "trust", "--no-sync")
        # Nothing here is worth more than a machine that fails, so nothing needs to reach the disk.
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c synchronous_commit=off"
        _run("pg_ctl", "start", "--wait", "-D", data, "-o", options, "-l", folder / "log")
        try:
            yield f"postgres://paceline@127.0.0.1:{port}/postgres"
        finally:
            _run("pg_ctl", "stop", "-D", data, "-m", "fast")
    finally:
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _run(program: str, *arguments: str | Path) -> None:
    as_postgres = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    command = [*as_postgres, str(_binary(program)), *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")


def _binary(program: str) -> Path:
    newest_first = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)
    found = newest_first[0] if newest_first else shutil.which(program)
    if found is None:
        raise SystemExit(f"{program} is missing: apt-get install postgresql")
    return Path(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
