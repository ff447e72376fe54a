"""The agent's one loop. Threads read commands, send batches, beat and sample; everything that decides happens here."""

import logging
import queue
import shutil
import threading
import time
from pathlib import Path

import msgspec

from trainer_agent.agent import happenings as h
from trainer_agent.agent import holders, inventory, launch, procs, trouble
from trainer_agent.agent.attempts import AttemptRunner
from trainer_agent.agent.checks import Checks
from trainer_agent.agent.commands import CommandReader, Seen
from trainer_agent.agent.gpu import Gpus
from trainer_agent.agent.heartbeat import Pulse
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.leftovers import Leftovers
from trainer_agent.agent.places import Places
from trainer_agent.agent.sample import Sampler, Subject
from trainer_agent.agent.sender import Sender
from trainer_agent.agent.spool import Spool
from trainer_agent.wire.messages import (
    AttemptAlive,
    AutopsyAttempt,
    Command,
    ForgetAttempt,
    Inventory,
    OpenCheck,
    ProbePeers,
    StartAttempt,
    StopAttempt,
)

log = logging.getLogger(__name__)

TICK = 0.05  # seconds
FLUSH_IN = 2.0  # seconds that the last batches have to reach Redis when the agent ends
Post = tuple[int, h.Happening]


class Daemon:
    """One node's agent."""

    def __init__(self, home: Path, identity: Identity) -> None:
        self.identity = identity
        self.places = Places(home, identity.node)
        self.gpus = Gpus()
        self.inventory = inventory.take(
            python=identity.python, cpu_slots=identity.cpu_slots, server_url=identity.url, gpus=self.gpus
        )
        self.runners: dict[int, AttemptRunner] = {}
        self.leftovers = Leftovers(self.places.survivors)
        self.checks = Checks(identity, home, self.gpus)
        self._inbox: queue.SimpleQueue[Command | Post | None] = queue.SimpleQueue()
        self._seen = Seen(self.places.seen_commands)
        self._stop = threading.Event()
        self.sampler = Sampler(self.gpus, identity.cpu_slots, self._subjects)
        self.sender = Sender(identity.redis_url, identity.node, self._spools)
        self.commands = CommandReader(identity.redis_url, identity.node, self._inbox.put)
        self.pulse = Pulse(
            identity.redis_url, identity.node, self._inventory_now, self.sampler, self._held, trouble=self._trouble
        )

    def run(self) -> None:
        """Until `stop`."""
        log.info("node %s (%s), %d slots", self.identity.name, self.identity.node, len(self.inventory.slots))
        self._adopt()
        threads = [
            threading.Thread(target=part.run, args=(self._stop,), daemon=True, name=type(part).__name__)
            for part in (self.sampler, self.sender, self.commands, self.pulse)
        ]
        for thread in threads:
            thread.start()
        while not self._stop.is_set():
            self._round()
        self._shut()

    def stop(self) -> None:
        """Take no new command, flush, end. The ranks live on."""
        self._stop.set()
        self._inbox.put(None)

    def _round(self) -> None:
        """Whatever came in, then a look at every attempt."""
        deadline = time.monotonic() + TICK
        while (left := deadline - time.monotonic()) > 0 and not self._stop.is_set():
            try:
                self._take(self._inbox.get(timeout=left))
            except queue.Empty:
                break
            except Exception:
                log.exception("could not take in what arrived")
        self._seen.save()
        for runner in list(self.runners.values()):
            try:
                runner.tick()
            except Exception:
                log.exception("attempt %d", runner.key)
            self.leftovers.note(runner.key, runner.survivors())
            if runner.gone:
                self.runners = {key: other for key, other in self.runners.items() if other is not runner}
        self.sender.wake.set()

    def _take(self, item: Command | Post | None) -> None:
        if item is None:
            return
        if isinstance(item, tuple):
            key, happening = item
            if key in self.runners:
                self.runners[key].handle(happening)
            return
        if item.id not in self._seen:
            self._obey(item)
            self._seen.add(item.id)

    def _obey(self, command: Command) -> None:
        if isinstance(command, OpenCheck | ProbePeers):
            self.checks.take(command)
            return
        key = command.attempt
        runner = self.runners.get(key)
        if isinstance(command, ForgetAttempt):
            self._forget(key, runner)
            return
        if isinstance(command, AutopsyAttempt):
            if runner is not None:
                runner.handle(h.Examine(command.asked))
            return
        if runner is None:
            if (self.places.attempt(key) / "closed.json").exists():
                return  # over, and the server's database has all of it
            runner = self._add(key, command if isinstance(command, StartAttempt) else None)
        if isinstance(command, StartAttempt):
            runner.handle(h.Start(command))
        else:
            runner.handle(_stop_of(command))

    def _forget(self, key: int, runner: AttemptRunner | None) -> None:
        if runner is not None:
            runner.handle(h.Forget())
            return
        launch.remove_rings(self.places, key)
        shutil.rmtree(self.places.attempt(key), ignore_errors=True)

    def _add(self, key: int, command: StartAttempt | None) -> AttemptRunner:
        runner = AttemptRunner(
            key,
            command,
            identity=self.identity,
            places=self.places,
            inventory=self.inventory,
            post=lambda key, happening: self._inbox.put((key, happening)),
            memory_held=self._memory_held,
            devices=lambda: self.sampler.slots,
        )
        self.runners = {**self.runners, key: runner}  # replaced, not changed: other threads go through it
        return runner

    def _adopt(self) -> None:
        """Take up what an earlier life of this agent held."""
        for folder in sorted(self.places.attempts.glob("*")):
            if not folder.name.isdigit():
                continue
            if (folder / "closed.json").exists():
                launch.remove_group(folder)
                continue
            try:
                log.info("taking up attempt %s again", folder.name)
                self._add(int(folder.name), _command_in(folder)).adopt()
            except Exception:
                log.exception("attempt %s could not be taken up", folder.name)

    def _shut(self) -> None:
        self.checks.close()
        for runner in self.runners.values():
            runner.shut()
        deadline = time.monotonic() + FLUSH_IN
        while self.sender.connected and self.sender.has_more and time.monotonic() < deadline:
            self.sender.flush()
        log.info("agent ends; %d attempts go on without it", len(self.runners))

    def _spools(self) -> dict[int, Spool]:
        return {key: runner.spool for key, runner in self.runners.items()}

    def _subjects(self) -> list[Subject]:
        found = [runner.subject() for runner in self.runners.values()]
        return [subject for subject in found if subject is not None]

    def _held(self) -> tuple[list[AttemptAlive], str]:
        """For the heartbeat; called from its thread. An attempt is held until the last of its processes is gone."""
        runners = self.runners
        left = self.leftovers.living()
        alive = [runner.alive() for runner in runners.values()]
        alive += [AttemptAlive(attempt=key, shim=False) for key in left.keys() - runners.keys()]
        ours = {slot for runner in runners.values() if runner.state.command for slot in runner.state.command.slots}
        foreign = holders.strangers(self.sampler.gpu_processes, ours)
        known = {survivor.pid for those in left.values() for survivor in those}
        return alive, holders.sentence(left, [process for process in foreign if process.pid not in known])

    def _trouble(self) -> str:
        """For the heartbeat; called from its thread."""
        return trouble.sentence([self._seen.trouble, *(runner.outbox.trouble for runner in self.runners.values())])

    def _memory_held(self, slots: list[int]) -> bool:
        """Whether a GPU still lists a process that is dead."""
        return any(p.slot in slots and procs.look_up(p.pid) is None for p in self.sampler.gpu_processes)

    def _inventory_now(self) -> Inventory:
        return inventory.with_live_slots(self.inventory, self.sampler.slots)


def _stop_of(command: StopAttempt) -> h.Stop:
    return h.Stop(command.signal, command.grace, command.reason)


def _command_in(folder: Path) -> StartAttempt | None:
    try:
        return msgspec.msgpack.decode((folder / "start.msgpack").read_bytes(), type=StartAttempt)
    except FileNotFoundError:
        return None
