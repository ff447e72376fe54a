"""What a launch is made of: code, packages, environment. Looked at beside the launch, told once."""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from trainer_agent.agent import code_state, packages
from trainer_agent.agent.environment import Folders, comes_from_the_machine, rank_environment
from trainer_agent.wire.hidden import MASK, looks_secret, without_credentials
from trainer_agent.wire.messages import StartAttempt

log = logging.getLogger(__name__)

WAIT = 20.0  # seconds that a launch which is over waits for it
_LONGEST_VALUE = 4_096
_OF_SCHEDULERS = ("SLURM_", "PBS_", "LSB_", "OMPI_", "TORCHELASTIC_", "MASTER_", "WORLD_SIZE", "KUBERNETES_")


class Looking:
    """A look in a thread of its own, handed over once."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._found: dict[str, Any] | None = None
        self._until = 0.0

    def begin(self, look: Callable[[], dict[str, Any]]) -> None:
        """Start it."""
        self._until = time.monotonic() + WAIT
        self._thread = threading.Thread(target=self._look, args=(look,), daemon=True, name="provenance")
        self._thread.start()

    def take(self) -> dict[str, Any] | None:
        """What was found, the first time that it is asked for."""
        found, self._found = self._found, None
        return found

    @property
    def is_over(self) -> bool:
        """Nothing more will come, or nobody should wait for it any longer."""
        if self._thread is None or time.monotonic() > self._until:
            return True
        return not self._thread.is_alive() and self._found is None

    def _look(self, look: Callable[[], dict[str, Any]]) -> None:
        try:
            self._found = look()
        except Exception:  # a run is worth more than its description
            log.exception("what a launch is made of could not be found out")


def of_launch(
    start: StartAttempt, work: Path, *, python: str, node: str, folders: Folders, gpus: bool
) -> dict[str, Any]:
    """Of a launch that we make. What the person set stays out: the server has it, and which of it is secret."""
    env = rank_environment(start, node=node, folders=folders, gpus=gpus)
    told = {name: value for name, value in env.items() if name not in start.env and not name.startswith("PACELINE_")}
    told.pop("PYTHONPATH", None)
    code = code_state.look(_code_in(start.argv, work), folders.ranks.parent)
    return {"folder": str(work), "environment": shown(told), **packages.ask(python, env), **code}


def of_attached(argv: list[str], folder: Path, python: str) -> dict[str, Any]:
    """Of a launch that somebody else made in this folder. Of a person's own shell only what is known is told."""
    env = dict(os.environ)
    told = {name: env[name] for name in env if comes_from_the_machine(name) or name.startswith(_OF_SCHEDULERS)}
    env.pop("PYTHONPATH", None)  # the agent's own
    installed = packages.ask(python, env) if python else {}
    code = code_state.look(_code_in(argv, folder))
    return {"folder": str(folder), "environment": shown(told), **installed, **code}


def shown(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables without values that look secret and without logins in addresses."""
    return {
        name: MASK if looks_secret(name) else without_credentials(value)[:_LONGEST_VALUE]
        for name, value in sorted(environment.items())
    }


def _code_in(argv: list[str], folder: Path) -> Path:
    """The script's folder, which need not be the one it is started in."""
    script = next((folder / word for word in argv if word.endswith(".py")), None)
    return script.parent if script is not None and script.is_file() else folder
