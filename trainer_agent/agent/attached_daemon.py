"""The agent's loop for one attached launch: it ends when the server has all of it, or does not take it."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainer_agent.agent import happenings as h
from trainer_agent.agent import provenance
from trainer_agent.agent.attached_files import AttachedFiles
from trainer_agent.agent.attempts import AttemptRunner
from trainer_agent.agent.daemon import Daemon
from trainer_agent.agent.heartbeat import EVERY as BEAT_EVERY
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.places import Places
from trainer_agent.agent.sample import Subject
from trainer_agent.agent.state import AttemptState, Phase
from trainer_agent.wire.messages import Inventory, StartAttempt

LAST_WORDS = 10.0  # seconds after the command's end in which the server must confirm it
FORGOTTEN_FOR = 2.5 * BEAT_EVERY  # the server believes that we forgot when a heartbeat says so


class AttachedPlaces(Places):
    """One folder, made before the server gave the attempt its number."""

    def __init__(self, folder: Path, node: str, rings: Path) -> None:
        super().__init__(folder, node)
        self._rings = rings

    def attempt(self, key: int) -> Path:
        """The front's folder."""
        return self.home

    def rings(self, key: int) -> Path:
        """Where the front told the ranks to write."""
        return self._rings


class AttachedRunner(AttemptRunner):
    """An attempt that was launched already, and whose ranks are found as they come."""

    def __init__(
        self, start: StartAttempt, *, slots: list[int] | None, python: str, places: AttachedPlaces, **parts: Any
    ) -> None:
        super().__init__(start.attempt, None, places=places, **parts)
        self.state = AttemptState(Phase.LAUNCHING, start)
        self.files: AttachedFiles = AttachedFiles(self.folder, places.rings(start.attempt))
        self._gpus = slots
        self._start, self._python = start, python

    def adopt(self) -> None:
        """Look what it is made of, in the folder in which the person typed it."""
        super().adopt()
        self.looking.begin(lambda: provenance.of_attached(self._start.argv, Path.cwd(), self._python))

    def handle(self, happening: h.Happening) -> None:
        """As for our own launches. A run that was deleted is watched no more; its launch goes on."""
        if isinstance(happening, h.RankStarted) and happening.rank not in self.state.ranks_started:
            self.outbox.follow(happening.rank)
        if isinstance(happening, h.Forget):
            self.state.phase = Phase.GONE
            self.outbox.close()
            return
        super().handle(happening)

    def subject(self) -> Subject | None:
        """The i-th local rank has the i-th GPU that the launch may see."""
        found = super().subject()
        if found is None:
            return None
        seen = [slot.index for slot in self._inventory.slots if slot.kind == "gpu"]
        chosen = seen if self._gpus is None else [index for index in self._gpus if index in seen]
        return replace(found, first_rank=self.files.first_rank, slots=chosen[: len(found.ranks)])


class AttachedDaemon(Daemon):
    """Holds one AttachedRunner. `told`: the server has everything, or wants nothing."""

    def __init__(
        self,
        places: AttachedPlaces,
        identity: Identity,
        found: Inventory,
        start: StartAttempt,
        *,
        slots: list[int] | None,
        python: str,
    ) -> None:
        super().__init__(places.home, identity)
        self.places: AttachedPlaces = places
        self.inventory = found
        self._start = start
        self._slots = slots
        self._python = python
        self._ended_at = self._forgotten_at = 0.0
        self.told = False

    def _adopt(self) -> None:
        runner = AttachedRunner(
            self._start,
            slots=self._slots,
            python=self._python,
            places=self.places,
            identity=self.identity,
            inventory=self.inventory,
            post=lambda key, happening: self._inbox.put((key, happening)),
            devices=lambda: self.sampler.slots,
        )
        self.runners = {runner.key: runner}
        runner.adopt()

    def _round(self) -> None:
        super()._round()
        now = time.monotonic()
        if (self.places.home / "exit.json").exists():
            self._ended_at = self._ended_at or now
        if not self.runners:
            self._forgotten_at = self._forgotten_at or now
            over = bool(self._ended_at) or now - self._forgotten_at > FORGOTTEN_FOR
            self.told = True
            if over:
                self.stop()
        elif self._ended_at and now - self._ended_at > LAST_WORDS:
            self.stop()

    def _forget(self, key: int, runner: AttemptRunner | None) -> None:
        """The front's folder stays with the front."""
        if runner is not None:
            runner.handle(h.Forget())
