"""Where things are on a node: docs/wire.md, "Files of one attempt on a node"."""

from pathlib import Path

import trainer_agent
from trainer_agent.agent.environment import Folders

SHIM = Path(trainer_agent.__file__).resolve().parent / "shim"
RINGS = Path("/dev/shm/paceline")  # noqa: S108  (each attempt's folder in it is 0700)


class Places:
    """Paths of one agent's home."""

    def __init__(self, home: Path, node: str) -> None:
        self.home = home
        self.node = node
        self.attempts = home / "attempts"
        self.seen_commands = home / "commands.json"
        self.survivors = home / "survivors.json"

    def attempt(self, key: int) -> Path:
        """The attempt's folder."""
        return self.attempts / str(key)

    def folders(self, key: int, run: str) -> Folders:
        """What the ranks are told of."""
        return Folders(
            ranks=self.attempt(key) / "ranks",
            rings=self.rings(key),
            checkpoints=self.home / "checkpoints" / run,
        )

    def rings(self, key: int) -> Path:
        """Shared memory of the attempt's ranks; two agents may share a machine."""
        return RINGS / f"{self.node}-{key}"
