"""The life of one attempt on one node: happenings in, actions out. No clock, no file, no network."""

from enum import StrEnum
from typing import Any

from trainer_agent.agent import happenings as h
from trainer_agent.wire.messages import StartAttempt


class Phase(StrEnum):
    """Where an attempt stands on this node.

    ::

        NEW --start--> PREPARING --ready--> LAUNCHING --shim up--> RUNNING --stop--> STOPPING
         |                |   ^                                       |                 |
         |                |   | start again                           | shim exited     | shim exited
         | stop           |   +---------- REFUSED <-- port in use ----+                 |
         |                | cannot start     |                        v                 |
         v                v                  | stop                DRAINING <-----------+
        FINISHED <--------+------------------+------------------------+ drained
         | acknowledged
         v
        GONE       forget leads here from everywhere; from RUNNING and STOPPING by way of FORGETTING
    """

    NEW = "new"
    PREPARING = "preparing"
    LAUNCHING = "launching"
    RUNNING = "running"
    STOPPING = "stopping"
    DRAINING = "draining"
    REFUSED = "refused"
    FINISHED = "finished"
    FORGETTING = "forgetting"
    GONE = "gone"


HELD_BY_SHIM = (Phase.LAUNCHING, Phase.RUNNING, Phase.STOPPING, Phase.FORGETTING)
RETRIED = "port_in_use"  # the one refusal that the server answers with another start


class AttemptState:
    """State machine of one attempt. `handle` is the only way in."""

    def __init__(self, phase: Phase = Phase.NEW, command: StartAttempt | None = None) -> None:
        self.phase = phase
        self.command = command
        self.again: StartAttempt | None = None  # a start that waits for the end of the launch before it
        self.exit: dict[str, Any] = {}
        self.ranks_started: set[int] = set()
        self.ranks_exited: set[int] = set()
        self.stop_reported = False

    def handle(self, happening: h.Happening) -> list[h.Action]:  # noqa: PLR0911  (one line per happening)
        """What to do now."""
        match happening:
            case h.Start():
                return self._start(happening.command)
            case h.Stop():
                return self._stop(happening)
            case h.Forget():
                return self._forget()
            case h.Examine():
                return [h.LookInside(happening.asked)] if self.phase in HELD_BY_SHIM else []
            case h.Examined():
                return self._examined(happening)
            case h.Ready() | h.CannotStart():
                return self._prepared(happening)
            case h.ShimUp():
                return self._shim_up(happening)
            case h.RankStarted() | h.RankExited() | h.StopSeen():
                return self._report_once(happening)
            case h.ShimLost():
                return [h.CleanTree()] if self.phase in HELD_BY_SHIM else []
            case h.ShimExited():
                return self._shim_exited(happening)
            case h.Drained():
                return self._finish(self.exit) if self.phase is Phase.DRAINING else []
            case h.Acknowledged():
                return self._go([h.CleanUp()]) if self.phase is Phase.FINISHED else []

    def _start(self, command: StartAttempt) -> list[h.Action]:
        if self.command is not None and command.id == self.command.id and self.phase is not Phase.NEW:
            return []
        accepted = h.Report("accepted", {"command": command.id})
        if self.phase in (Phase.NEW, Phase.REFUSED):
            return self._prepare(command, [accepted])
        if self.phase is Phase.PREPARING:
            return self._prepare(command, [accepted])  # what is ready for the older command is then ignored
        if self.phase in (Phase.LAUNCHING, Phase.RUNNING) and not self.ranks_started:
            self.again = command
            return [accepted, h.WriteStop("SIGKILL", 0.0, "started_again")]
        return [accepted]

    def _prepare(self, command: StartAttempt, before: list[h.Action]) -> list[h.Action]:
        self.phase, self.command, self.again = Phase.PREPARING, command, None
        return [*before, h.Prepare(command)]

    def _stop(self, stop: h.Stop) -> list[h.Action]:
        self.again = None
        if self.phase in (Phase.NEW, Phase.PREPARING, Phase.REFUSED):
            return self._finish({"reason": stop.reason or "stopped"})
        if self.phase in (Phase.LAUNCHING, Phase.RUNNING, Phase.STOPPING):
            self.phase = Phase.STOPPING
            return [h.WriteStop(stop.signal, stop.grace, stop.reason or "stopped")]
        return []

    def _forget(self) -> list[h.Action]:
        if self.phase in HELD_BY_SHIM:
            self.phase = Phase.FORGETTING
            return [h.WriteStop("SIGKILL", 0.0, "forgotten")]
        return self._go([h.Remove()])

    def _prepared(self, happening: h.Ready | h.CannotStart) -> list[h.Action]:
        if self.command is None or happening.command_id != self.command.id:
            return []
        if self.phase in (Phase.STOPPING, Phase.FORGETTING) and isinstance(happening, h.CannotStart):
            gone = self.phase is Phase.FORGETTING
            return self._go([h.Remove()]) if gone else self._finish({"reason": "stopped"})
        if self.phase not in (Phase.PREPARING, Phase.LAUNCHING):
            return []
        if isinstance(happening, h.Ready):
            self.phase = Phase.LAUNCHING
            return [h.Launch(self.command)]
        return self._refuse(happening.reason, happening.detail)

    def _refuse(self, reason: str, detail: str) -> list[h.Action]:
        command = self.command.id if self.command else None
        refused = h.Report("refused", {"command": command, "reason": reason, "detail": detail})
        if reason == RETRIED:
            self.phase = Phase.REFUSED
            return [refused]
        return [refused, *self._finish({"reason": "refused"})]

    def _shim_up(self, happening: h.ShimUp) -> list[h.Action]:
        if self.phase in (Phase.PREPARING, Phase.LAUNCHING):
            self.phase = Phase.RUNNING
        if self.phase not in (*HELD_BY_SHIM, Phase.DRAINING):
            return []
        return [h.Report("launched", {"pid": happening.pid})]

    def _report_once(self, happening: h.RankStarted | h.RankExited | h.StopSeen) -> list[h.Action]:
        match happening:
            case h.RankStarted(rank, at, data) if rank not in self.ranks_started:
                self.ranks_started.add(rank)
                return [h.Report("rank_started", data, rank, at)]
            case h.RankExited(rank, at, data) if rank not in self.ranks_exited:
                self.ranks_exited.add(rank)
                return [h.Report("rank_exited", data, rank, at)]
            case h.StopSeen(order) if not self.stop_reported and self.again is None:
                self.stop_reported = True
                return [h.Report("stopping", order)]
        return []

    def _examined(self, found: h.Examined) -> list[h.Action]:
        """Nothing is told after `finished`."""
        if self.phase not in (*HELD_BY_SHIM, Phase.DRAINING):
            return []
        asked = {"asked": found.asked}
        return [h.Report("autopsy", {**asked, **facts}, rank) for rank, facts in sorted(found.ranks.items())]

    def _shim_exited(self, happening: h.ShimExited) -> list[h.Action]:
        if self.phase not in HELD_BY_SHIM:
            return []
        self.exit = happening.content
        if self.phase is Phase.FORGETTING:
            return self._go([h.Remove()])
        if self.again is not None:
            return self._prepare(self.again, [h.Reset()])
        if happening.port_in_use and self.phase is not Phase.STOPPING and not self.ranks_started:
            return [h.Reset(), *self._refuse(RETRIED, "Another program took the port first.")]
        self.phase = Phase.DRAINING
        return []

    def _finish(self, content: dict[str, Any]) -> list[h.Action]:
        self.phase = Phase.FINISHED
        keys = ("launcher_code", "launcher_signal", "survivors", "reason", "detail")
        return [h.Report("finished", {"survivors": [], **{k: content[k] for k in keys if k in content}})]

    def _go(self, actions: list[h.Action]) -> list[h.Action]:
        self.phase = Phase.GONE
        return actions
