"""`manage.py up` as a person starts it: a process of its own, its folder and what it printed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

from tests.waiting import until
from webapp.supervisor.own_server import readiness

REPO = Path(__file__).resolve().parents[2]


class Up:
    """One `manage.py up`. Ended by `stop()`, or by force in `end()`."""

    def __init__(self, home: Path, port: int, nodes: int = 0) -> None:
        self.home = home
        self.url = f"http://127.0.0.1:{port}"
        self._output = home.with_name(f"{home.name}.out")
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                [*command(home, port), "--nodes", str(nodes)],
                cwd=REPO,
                env=environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def wait_until_ready(self, seconds: float = 60) -> dict[str, Any]:
        """The content of connection.json."""
        path = self.home / "connection.json"
        until(lambda: path.exists() or self.process.poll() is not None, seconds)
        assert self.process.poll() is None, self.said()
        content: dict[str, Any] = json.loads(path.read_text())
        return content

    def said(self) -> str:
        return self._output.read_text()

    def is_ready(self) -> bool:
        return is_ready(self.url)

    def pid_of(self, part: str) -> int:
        try:
            return int((self.home / "run" / f"{part}.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return 0

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = 10) -> int:
        """The exit code."""
        self.process.send_signal(number)
        return self.process.wait(seconds)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(15)


def is_ready(url: str) -> bool:
    """Whether every part of the product there is."""
    found = readiness(url)
    return found is not None and not found.missing


def command(home: Path, port: int) -> list[str]:
    return [sys.executable, "manage.py", "up", "--home", str(home), "--port", str(port)]


def environment() -> dict[str, str]:
    """Without what the tests' own settings come from."""
    ours = ("PACELINE_HOME", "SECRET_KEY", "REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE")
    return {key: value for key, value in os.environ.items() if key not in ours}


def alive_in(home: Path) -> list[str]:
    """Command lines of the processes that carry the home in their environment."""
    return [" ".join(process.cmdline()) for process in psutil.process_iter() if _carries(process, home)]


def _carries(process: psutil.Process, home: Path) -> bool:
    try:
        return any(value == str(home) or value.startswith(f"{home}/") for value in process.environ().values())
    except psutil.Error:
        return False
