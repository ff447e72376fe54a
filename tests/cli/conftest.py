"""The console script as a process of its own, against a real server on the test's database."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import builders
from webapp.accounts.models import ApiToken, User
from webapp.projects.models import Role

Cli = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def ed(transactional_db: None, redis_client: object) -> User:
    """An editor of the project `demo` on a server with two nodes of two slots."""
    builders.project("demo", ed=Role.EDITOR)
    builders.node("gpu-a", slots=2)
    builders.node("gpu-b", slots=2)
    return User.objects.get(username="ed")


@pytest.fixture
def environment(server_url: str, tmp_path: Path) -> dict[str, str]:
    """A shell without a login."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
    return {**kept, "PACELINE_CONFIG": str(tmp_path / "config" / "login.json"), "PYTHONUTF8": "1"}


@pytest.fixture
def paceline(environment: dict[str, str], repo: Path) -> Cli:
    """`paceline("ls", "--json")` without a login."""

    def run(*arguments: str, stdin: bytes = b"", **more: str) -> "subprocess.CompletedProcess[bytes]":
        command = [sys.executable, "-m", "trainer_agent.cli", *arguments]
        return subprocess.run(
            command, cwd=repo, env={**environment, **more}, input=stdin, capture_output=True, timeout=60, check=False
        )

    return run


@pytest.fixture
def cli(ed: User, server_url: str, environment: dict[str, str], paceline: Cli) -> Cli:
    """`cli("ls")` as the editor."""
    environment |= {"PACELINE_URL": server_url, "PACELINE_TOKEN": ApiToken.issue(ed, "cli")[1]}
    return paceline
