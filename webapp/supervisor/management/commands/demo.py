"""`manage.py demo`: `up` on the next free port, then one healthy and one troubled run."""

import os
import subprocess
import sys
from typing import Any

from django.core.management import CommandParser

from webapp.supervisor.catalogue import CODE
from webapp.supervisor.environment import Place
from webapp.supervisor.home import CannotStart, is_free, read_json
from webapp.supervisor.management.commands import up

# Name and the end of the command line of each; the troubled one has a rank that is slow from step 70 on.
_RUNS = {
    "healthy": ["--", str(CODE / "examples" / "tiny_gpt.py"), "--steps", "3000", "--step-ms", "100"],
    "troubled": [
        *["--env", "FAULT=backward:rank=1:ms=200:from=70"],
        *["--", str(CODE / "examples" / "faulty.py"), "--steps", "2000", "--step-ms", "100"],
    ],
}
_SHAPE = ["--project", "demo", "--nodes", "2", "--ranks-per-node", "1", "--env", "OMP_NUM_THREADS=1"]


class Command(up.Command):
    help = "Everything that `up` starts, and two runs to look at."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(slots=4)  # the two runs leave room for a first one of the visitor's own

    def _take_port(self, address: str, port: int) -> int:
        for candidate in range(port, port + 100):
            if is_free(address, candidate):
                return candidate
        raise CannotStart(f"No free port between {port} and {port + 99}. Choose another one with --port.")

    def _when_ready(self, place: Place) -> None:
        for name, tail in _RUNS.items():
            self._submit(place, name, tail)
        super()._when_ready(place)

    def _submit(self, place: Place, name: str, tail: list[str]) -> None:
        login: dict[str, Any] = read_json(place.home.login)
        done = subprocess.run(
            [sys.executable, "-m", "trainer_agent.cli", "submit", *_SHAPE, "--name", name, *tail],
            env={**os.environ, "PACELINE_URL": place.url, "PACELINE_TOKEN": login["token"]},
            cwd=CODE,
            capture_output=True,
            text=True,
            check=False,
        )
        outcome = f"launched as {done.stdout.strip()}" if done.returncode == 0 else done.stderr.strip()
        self._say(f"  run “{name}”: {outcome}")
