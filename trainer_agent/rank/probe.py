"""The probe of one rank: its timeline, its steps, and what it knows about itself. Hooks in the other files feed it."""

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from trainer_agent.rank.clock import Clock, CpuClock
from trainer_agent.rank.cost import Cost
from trainer_agent.rank.guard import Guard
from trainer_agent.rank.output import Output
from trainer_agent.rank.own_step import OwnStep
from trainer_agent.rank.progress import Progress
from trainer_agent.rank.recorder import Recorder
from trainer_agent.rank.segment import PARTS, Segment
from trainer_agent.rank.settings import flat
from trainer_agent.rank.sight import cannot_see
from trainer_agent.rank.steps import Steps
from trainer_agent.rank.talk import collectives_enqueued
from trainer_agent.rank.timeline import Timeline
from trainer_agent.rank.totals import total_steps
from trainer_agent.rank.values import ValueLog
from trainer_agent.rank.versions import versions

NO_OPTIMIZER = -1  # no number of any
TELL_AT = (4, 16, 50, 500)  # steps after which the facts are written again
LOOK_AGAIN = 16  # steps after which it is asked whether they are still true, and whether there is a device


class Probe:
    """One per process. Everything here runs in the training thread, inside `guard.run`."""

    def __init__(self, ring_dir: str, rank: int) -> None:
        self.guard = Guard(on_failure=self._part_failed)
        self.cost = Cost(self.guard)
        self.output = Output(ring_dir, rank)
        self.recorder = Recorder()
        self.progress = Progress(self.output)
        self.timeline = Timeline(CpuClock(), self.progress.fields)
        self.steps = Steps(self._emit)
        self.values = ValueLog(self.output)
        self.own_step = OwnStep()
        self.resumed_at: int | None = None  # steps that the optimizer had done before this process
        self.before_step: list[Callable[[Segment], None]] = []  # they add what they know to a segment that ends
        self.loader_seen = self.wrapper_seen = self.group_seen = self.on_cuda = False
        self.forwards = self.backwards = self.batches = 0  # since the last cut
        self.backward_depth = 0  # backwards that the training thread is in
        self.batches_per_epoch: int | None = None
        self.thread = threading.main_thread().ident  # the one that trains
        self._batches_per_step = 1
        self._reasons: dict[str, str] = {}
        self._missing: tuple[int, ...] = ()
        self._told: dict[str, Any] = {}
        self._tell_again = True
        self._look_at = 0  # the number of the step with which the facts are looked at
        atexit.register(self.guard.run, "exit", self._finish)

    def mine(self) -> bool:
        """Whether this is the thread that trains. What runs in every step compares `thread` itself."""
        return threading.get_ident() == self.thread

    def adopt_thread(self) -> None:
        """The first optimizer step of the process shows which thread trains."""
        if not self.steps.trained:
            self.thread = threading.get_ident()

    def end_step(self, who: int, *, flags: int = 0, leaving: bool = False) -> None:
        """Optimizer `who` has stepped, or was skipped. `leaving`: its phase is open still and ends with the step."""
        segment = self.timeline.cut(leaving=leaving)
        if segment is None:
            return
        segment.end = time.time()
        segment.flags |= flags
        segment.batches = self.batches
        self.forwards = self.backwards = self.batches = 0
        for add in self.before_step:
            add(segment)
        if who == self.steps.alone:
            self._emit(segment)
        elif who == NO_OPTIMIZER:
            self.steps.iteration_without_optimizer(segment)
        else:
            self.steps.optimizer_stepped(who, segment)

    def end_iteration_without_optimizer(self) -> None:
        """A pass that only evaluated has ended, in a process that has not trained yet."""
        self.end_step(NO_OPTIMIZER)

    def use_clock(self, clock: Clock) -> None:
        """Take marks from the device that does the work."""
        self.on_cuda = True
        self._tell_again = True
        self.timeline.use(clock)

    def log(self, values: Mapping[str, Any], step: int | None) -> None:
        """`paceline.log` and captured writers come in here, from any thread."""
        self.guard.run("values", self._log, values, step)

    def config(self, values: Mapping[str, Any]) -> None:
        """`paceline.config` comes in here."""
        self.guard.run("config", self._config, values)

    def learn(self, *, loader: bool = False, wrapper: bool = False, batches_per_epoch: int | None = None) -> None:
        """Something was seen for the first time; the facts are written again with the next step."""
        self.loader_seen |= loader
        self.wrapper_seen |= wrapper
        self.batches_per_epoch = batches_per_epoch or self.batches_per_epoch
        self._tell_again = True

    def _log(self, values: Mapping[str, Any], step: Any) -> None:
        now = self._step_now()
        if step is None:
            step = now + (self.resumed_at or 0)
        else:
            self._tell_again |= self.own_step.saw(step, now)
        self.values.log(values, step)

    def _config(self, values: Mapping[str, Any]) -> None:
        if self.output.open():
            self.output.facts.write({"facts": {"config": flat(values)}})

    def _step_now(self) -> int:
        """The step under way; right after the end of a step, while nothing has begun, that one."""
        ended = self.recorder.made + self.steps.holds
        return max(0, ended - self.timeline.at_rest)

    def _emit(self, segment: Segment) -> None:
        if self.recorder.ring is None:
            if not self.output.open():
                return
            self.recorder.ring = self.output.steps
        looks = self._tell_again or self.recorder.made >= self._look_at
        if looks and (self._tell_again or not self.group_seen):
            self._reasons = self._cannot_see()
            self._missing = tuple(k for k, part in enumerate(PARTS) if part in self._reasons)
        segment.missing = self._missing
        self.recorder.add(segment)
        if self.on_cuda:
            self.progress.waiting(self.recorder.waiting)
        if self.values.waiting:
            self.values.drain()
        made = self.recorder.made
        if looks:
            self._look_at = _next_look(made)
            self._batches_per_step = max(1, segment.batches)
            if self._tell_again or made in TELL_AT or self.values.dropped_changed():
                self._tell(self._reasons)
        if made >= self.cost.due:
            self.cost.step_ended(made)

    def _cannot_see(self) -> dict[str, str]:
        distributed: Any = sys.modules.get("torch.distributed")
        if distributed and not self.group_seen:
            self.group_seen = distributed.is_available() and distributed.is_initialized()
        return cannot_see(
            self.guard.failed,
            loader=self.loader_seen,
            wrapper=self.wrapper_seen,
            process_group=self.group_seen,
            on_cuda=self.on_cuda,
        )

    def _tell(self, reasons: dict[str, str]) -> None:
        """Write the facts, if they say anything new."""
        self._tell_again = False
        facts = {
            "sees": [part for part in ("step", *PARTS) if part not in reasons],
            "cannot_see": reasons,
            "failed": dict(self.guard.failed),
            **versions(),
            "clock": self.timeline.clock.name,
            "total_steps": total_steps(sys.argv, os.environ, self.batches_per_epoch, self._batches_per_step),
            "steps": self.recorder.made,
            "collectives": self.progress.collectives or self.guard.run("talk", collectives_enqueued),
            "probe_us": self.cost.us,
            "step_us": round(self.recorder.pace.us),
            "own_step": self.own_step.difference,
            "resumed_at": self.resumed_at,
            "dropped": {**self.values.dropped, "steps": self.recorder.lost},
        }
        if facts != self._told:
            self._told = facts
            self.output.facts.write({"facts": facts})

    def _part_failed(self) -> None:
        self.timeline.unwind()
        self.backward_depth = 0
        self._tell_again = True

    def _finish(self) -> None:
        self.steps.flush()
        self.recorder.drain()
        self.values.drain()
        if self.output.opened:
            self._tell(self._cannot_see())


def _next_look(made: int) -> int:
    """The number of the next step with which the facts are looked at, when so many have been made."""
    return min([made + -made % LOOK_AGAIN, *(at - 1 for at in TELL_AT if at > made)])
