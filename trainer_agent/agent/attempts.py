"""Runs one attempt on this node: looks, asks the state machine, does what it says. Owned by the daemon's one loop."""

import logging
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from trainer_agent.agent import happenings as h
from trainer_agent.agent import launch, provenance, trouble
from trainer_agent.agent.autopsy import Scene, examine
from trainer_agent.agent.collect import Collector, dropped_event
from trainer_agent.agent.environment import is_loopback
from trainer_agent.agent.errors import CannotPrepare
from trainer_agent.agent.files import read_json, write_json, write_whole
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.links import nodes_by_address
from trainer_agent.agent.outbox import DISK_FULL, Outbox
from trainer_agent.agent.places import Places
from trainer_agent.agent.prepare import prepare
from trainer_agent.agent.sample import Subject
from trainer_agent.agent.spool import Spool
from trainer_agent.agent.state import HELD_BY_SHIM, AttemptState, Phase
from trainer_agent.agent.tail import LogTail
from trainer_agent.agent.watch import AttemptFiles
from trainer_agent.wire.messages import AttemptAlive, Event, Inventory, SlotFacts, StartAttempt

log = logging.getLogger(__name__)

# Seconds between batches of one node. Cost is set by messages, so many nodes speak less often: every 0.1 s up to 8
# nodes, every second from 80 nodes on.
FLUSH_SOONEST, FLUSH_LATEST, FLUSH_PER_NODE = 0.1, 1.0, 0.0125
MEMORY_FREED_IN = 10.0  # seconds that the GPUs of a launch have to be free of its dead processes
REFUSED_FOR = 60.0  # seconds that a refused attempt waits for another start


class AttemptRunner:
    """One attempt. `post` hands what a background thread found out back to the loop."""

    def __init__(
        self,
        key: int,
        command: StartAttempt | None,
        *,
        identity: Identity,
        places: Places,
        inventory: Inventory,
        post: Callable[[int, h.Happening], None],
        memory_held: Callable[[list[int]], bool] = lambda _slots: False,
        devices: Callable[[], list[SlotFacts]] = list,
    ) -> None:
        self.key = key
        self.folder = places.attempt(key)
        self._identity, self._places, self._inventory, self._post = identity, places, inventory, post
        self.ranks = range(0)
        if command is not None:
            first = command.node_rank * command.ranks_per_node
            self.ranks = range(first, first + command.ranks_per_node)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        spool = Spool(self.folder / "spool")
        cursor = spool.cursor()
        self.state = _state_from(cursor, command)
        self.files = AttemptFiles(self.folder, self.ranks)
        self.outbox = Outbox(
            key,
            identity.node,
            spool,
            Collector(str(places.rings(key)), self.ranks, cursor.get("rings", {})),
            LogTail(self.folder, self.ranks, cursor.get("logs", {})),
        )
        self._work: dict[int, Path] = {}  # command -> the folder that was made ready for it
        self._flushed_at = 0.0
        self._has_more = False
        self._refused_at = 0.0
        self._drained_at = 0.0
        self._memory_held = memory_held
        self._devices = devices
        self._cleaning = False
        self.looking = provenance.Looking()

    @property
    def spool(self) -> Spool:
        """Where its batches wait for the server."""
        return self.outbox.spool

    @property
    def gone(self) -> bool:
        """Nothing left to do."""
        return self.state.phase is Phase.GONE

    def adopt(self) -> None:
        """After a restart of the agent: go on where the spool says that it was."""
        command = self.state.command
        if self.state.phase is Phase.NEW and command is not None:
            self.handle(h.Start(command))
        elif self.state.phase in (Phase.PREPARING, Phase.LAUNCHING) and command is not None:
            if self.files.shim_is_up:
                self.handle(h.ShimUp(self.files.launcher_pid()))
            else:
                self.state.phase = Phase.PREPARING
                self._perform(h.Prepare(command))
        elif self.state.phase is Phase.NEW:
            self.handle(h.Stop("SIGTERM", 0.0, "never_started"))

    def handle(self, happening: h.Happening) -> None:
        """Let the state machine decide, then act."""
        for action in self.state.handle(happening):
            self._perform(action)

    def tick(self) -> None:
        """Look for what happened; put what is new into the spool when it is time."""
        if self.state.phase in HELD_BY_SHIM:
            for happening in self.files.look(self.state.ranks_started, self.state.ranks_exited, self._inventory):
                self.handle(happening)
        self._tell_provenance()
        if self.state.phase is Phase.DRAINING:
            if self.looking.is_over and self.outbox.drain(self._cursor()) and self._memory_is_free():
                self._tell_counts()
                self.handle(h.Drained())
        elif self._has_more or self.outbox.has_events or time.monotonic() - self._flushed_at >= self._flush_every:
            self._flush()
        self._look_for_the_end()

    def shut(self) -> None:
        """The agent ends; the ranks live on."""
        if not self.gone:
            self._flush()

    def alive(self) -> AttemptAlive:
        """For the heartbeat; called from its thread."""
        counts = self.outbox.counts
        return AttemptAlive(
            attempt=self.key,
            ranks=sorted(self.files.living_ranks()),
            shim=self.files.shim_lives(),
            spool_bytes=self.spool.size,
            unacked=self.spool.unacked,
            made={rank: count.made for rank, count in counts.items()},
            taken={rank: count.taken for rank, count in counts.items()},
        )

    def subject(self) -> Subject | None:
        """For the sampler; called from its thread. None while there is nothing to measure."""
        command = self.state.command
        if command is None or self.state.phase not in (Phase.RUNNING, Phase.STOPPING):
            return None
        return Subject(
            key=self.key,
            node_rank=command.node_rank,
            ranks=self.files.living_ranks(),
            first_rank=self.ranks.start,
            slots=command.slots,
            over_loopback=is_loopback(command.master_addr),
            take=self.outbox.add_samples,
            peers=nodes_by_address(command.peers, command.node_rank),
        )

    def survivors(self) -> list[dict[str, Any]]:
        """Processes that could not be ended, as exit.json names them."""
        return list(self.state.exit.get("survivors", []))

    @property
    def _flush_every(self) -> float:
        nodes = self.state.command.nnodes if self.state.command else 1
        return min(FLUSH_LATEST, max(FLUSH_SOONEST, FLUSH_PER_NODE * nodes))

    def _flush(self) -> None:
        self._flushed_at = time.monotonic()
        self._has_more = self.outbox.flush(self._cursor())

    def _tell_provenance(self) -> None:
        found = self.looking.take()
        if found is not None:
            self._perform(h.Report("provenance", found))

    def _tell_counts(self) -> None:
        """Last words on each rank's step records, right before `finished`."""
        for rank, count in self.outbox.counts.items():
            self._perform(h.Report("counted", {"made": count.made, "taken": count.taken}, rank))

    def _memory_is_free(self) -> bool:
        """A driver takes a while to give back the memory of dead processes; one that never does holds up nobody."""
        self._drained_at = self._drained_at or time.monotonic()
        slots = self.state.command.slots if self.state.command else []
        return not self._memory_held(slots) or time.monotonic() - self._drained_at > MEMORY_FREED_IN

    def _look_for_the_end(self) -> None:
        is_over = self.state.phase is Phase.FINISHED and self.outbox.is_empty and not self.spool.unacked
        if is_over and self._note_closed():
            self.handle(h.Acknowledged())
        if self.state.phase is Phase.REFUSED:
            self._refused_at = self._refused_at or time.monotonic()
            if time.monotonic() - self._refused_at > REFUSED_FOR:
                self.handle(h.Stop("SIGTERM", 0.0, "refused"))
        else:
            self._refused_at = 0.0

    def _note_closed(self) -> bool:
        """Nothing is thrown away before this is on disk: without it the next agent would start the attempt again."""
        try:
            write_json(self.folder / "closed.json", {"at": time.time()})
        except OSError as error:
            self.outbox.trouble = error
            return False
        return True

    def _cursor(self) -> dict[str, Any]:
        state = self.state
        return {
            "phase": str(state.phase),
            "started": sorted(state.ranks_started),
            "exited": sorted(state.ranks_exited),
            "stop_reported": state.stop_reported,
            "exit": state.exit,
        }

    def _perform(self, action: h.Action) -> None:
        match action:
            case h.Report():
                at = time.time() if action.at is None else action.at
                log.info("attempt %d: %s%s", self.key, action.kind, _of_rank(action.rank))
                self._tell(Event(kind=action.kind, at=at, rank=action.rank, data=action.data))
            case h.Prepare():
                self._begin(action.command)
            case h.Launch():
                self._in_background(self._launch, action.command)
            case h.WriteStop():
                self._write_stop(action)
            case h.LookInside():
                self._in_background(self._look_inside, action.asked)
            case h.CleanTree():
                if not self._cleaning:
                    self._cleaning = True
                    self._in_background(self._clean_tree)
            case h.Reset():
                self.files.reset()
            case h.CleanUp():
                self._clean_up()
            case h.Remove():
                self._remove()

    def _tell(self, event: Event) -> None:
        """An exit also says what the rank printed in vain, on a full disk."""
        lost = int(event.data.get("log_lost") or 0)
        if lost:
            self.outbox.add_event(dropped_event(event.at, event.rank, "log bytes", lost, DISK_FULL))
        self.outbox.add_event(event)

    def _begin(self, command: StartAttempt) -> None:
        try:
            write_whole(self.folder / "start.msgpack", msgspec.msgpack.encode(command))
        except OSError as error:
            self.handle(h.CannotStart(command.id, "spawn", f"The node could not prepare it. {trouble.reason(error)}."))
        else:
            self._in_background(self._prepare, command)

    def _prepare(self, command: StartAttempt) -> None:
        try:
            work = self._work[command.id] = prepare(command, self._identity, self.folder)
            self.looking.begin(lambda: self._look_around(command, work))
            self._post(self.key, h.Ready(command.id))
        except CannotPrepare as error:
            self._post(self.key, h.CannotStart(command.id, error.reason, error.detail))
        except Exception as error:
            log.exception("attempt %d could not be prepared", self.key)
            self._post(
                self.key, h.CannotStart(command.id, "spawn", f"The node could not prepare it. {trouble.reason(error)}.")
            )

    def _look_around(self, command: StartAttempt, work: Path) -> dict[str, Any]:
        return provenance.of_launch(
            command,
            work,
            python=self._identity.python,
            node=self._identity.node,
            folders=self._places.folders(command.attempt, command.run),
            gpus=any(slot.kind == "gpu" for slot in self._inventory.slots),
        )

    def _launch(self, command: StartAttempt) -> None:
        gpus = any(slot.kind == "gpu" for slot in self._inventory.slots)
        try:
            work = self._work.pop(command.id)
            self._post(self.key, h.ShimUp(launch.launch(command, work, self._identity, self._places, gpus=gpus)))
        except CannotPrepare as error:
            self._post(self.key, h.CannotStart(command.id, error.reason, error.detail))
        except Exception as error:
            log.exception("attempt %d could not be launched", self.key)
            self._post(
                self.key, h.CannotStart(command.id, "spawn", f"The node could not launch it. {trouble.reason(error)}.")
            )

    def _look_inside(self, asked: int) -> None:
        try:
            self._post(self.key, h.Examined(asked, examine(self._scene())))
        except Exception:
            log.exception("attempt %d: what its ranks are doing could not be found out", self.key)

    def _scene(self) -> Scene:
        pids, subject = self.files.living_ranks(), self.subject()
        sampled = {slot.index: slot for slot in self._devices() if slot.kind == "gpu"}
        slots = enumerate(subject.slots, subject.first_rank) if subject is not None else ()
        return Scene(
            rings=str(self._places.rings(self.key)),
            folder=self.folder,
            ranks={*self.ranks, *pids},
            pids=pids,
            devices={rank: sampled[index] for rank, index in slots if index in sampled},
        )

    def _clean_tree(self) -> None:
        try:
            launch.clean(self.folder)
        except CannotPrepare as error:
            log.warning("attempt %d: what its shim left could not be ended: %s", self.key, error)
        finally:
            self._cleaning = False  # without an exit.json it is tried again

    def _write_stop(self, action: h.WriteStop) -> None:
        path = self.folder / "stop.json"
        before = read_json(path)
        grace = action.grace if before is None else min(action.grace, float(before.get("grace", action.grace)))
        reason = action.reason if before is None else before.get("reason", action.reason)
        write_json(path, {"signal": action.signal, "grace": grace, "reason": reason})

    def _clean_up(self) -> None:
        """Logs stay for who looks on the node; all else has reached the server."""
        self.outbox.close()
        shutil.rmtree(self.folder / "spool", ignore_errors=True)
        for name in ("start.msgpack", "plan.json"):
            (self.folder / name).unlink(missing_ok=True)
        launch.remove_rings(self._places, self.key)

    def _remove(self) -> None:
        self.outbox.close()
        launch.remove_rings(self._places, self.key)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _in_background(self, act: Callable[..., None], *arguments: Any) -> None:
        threading.Thread(target=act, args=arguments, daemon=True, name=f"attempt-{self.key}").start()


def _state_from(cursor: dict[str, Any], command: StartAttempt | None) -> AttemptState:
    state = AttemptState(Phase(cursor.get("phase", Phase.NEW)), command)
    state.ranks_started = set(cursor.get("started", ()))
    state.ranks_exited = set(cursor.get("exited", ()))
    state.stop_reported = bool(cursor.get("stop_reported"))
    state.exit = dict(cursor.get("exit", {}))
    return state


def _of_rank(rank: int | None) -> str:
    return "" if rank is None else f" of rank {rank}"
