"""All that this process knows about one attempt that it serves."""

import logging
import time

from django.db import transaction
from django.utils import timezone

from webapp.live.publish import frame
from webapp.queue import LOOK, hint
from webapp.runs.lifecycle import note_data
from webapp.runs.models import Attempt, Status
from webapp.telemetry import slot_time
from webapp.telemetry.models import Tail
from webapp.telemetry.points import STEP_END
from workers.ingest.apply import Applied, apply
from workers.ingest.behind import Behind
from workers.ingest.frames import Frames
from workers.ingest.lease import hold
from workers.ingest.metric_values import MetricValues
from workers.ingest.senders import Senders
from workers.ingest.summary import Summary
from workers.ingest.window import Window
from workers.ingest.young import Young

log = logging.getLogger(__name__)

NOTE_EVERY_S = 0.5


class Held:
    """One attempt: its window, its frames, its list row, and how much young data it has."""

    def __init__(self, attempt: Attempt, holder: str) -> None:
        self.attempt, self.holder = attempt, holder
        self.nodes: list[str] = []
        self.senders = Senders(attempt)
        self.window = Window(attempt.world_size, attempt.first_step)
        self.young = Young(attempt, self.window)
        self.frames = Frames(attempt, self.window, self.young)
        self.behind = Behind(attempt, self.window)
        self.summary = Summary(attempt)
        self.metric_values = MetricValues(attempt)
        self._noted = 0.0
        self._to_note = False

    def start(self) -> None:
        """Read from the database what an earlier process left."""
        self.window.fill(self.attempt)
        self.young.fill()
        self.summary.fill()
        self.metric_values.fill()
        self.look()
        if self.window.blocks:  # the process before may have stored what it did not publish any more
            frame(self.attempt.run.uid, "resync")

    def look(self) -> None:
        """Read again what others write: status and parts."""
        row = Attempt.objects.values("status", "first_step").get(pk=self.attempt.pk)
        self.attempt.status = row["status"]
        self._count_from(row["first_step"])
        nodes = self.senders.learn()
        if self.attempt.run.is_attached:  # its nodes and ranks come as they come
            size = Attempt.objects.values_list("world_size", flat=True).get(pk=self.attempt.pk)
            self.attempt.world_size = self.window.world_size = size
        if nodes != self.nodes or self.attempt.run.is_attached:
            self.nodes = nodes
            self.frames.learn_places()

    def store(self, received: dict[str, list[bytes]]) -> Applied:
        """Commit messages; then remember them for frames and list row."""
        done = apply(self.attempt, self.holder, self.senders, received)
        now = time.monotonic()
        self.young.add(done.batches, done.points, done.tails, now)
        if done.first_step is not None:
            self._count_from(done.first_step)
        self.frames.logs(done.log_ends)
        self.summary.add(done.points)
        self.metric_values.add(done.points)
        self._to_note |= bool(done.points or done.log_ends)
        return done

    def _count_from(self, first_step: int) -> None:
        """The script's own number of the first step became known: pages draw all again."""
        if first_step != self.attempt.first_step:
            self.attempt.first_step = self.window.first_step = first_step
            self._to_note = True
            frame(self.attempt.run.uid, "resync")

    def tend(self, now: float) -> None:
        """What is due: a word to the watch, frames, the list row, compaction."""
        if self.behind.is_news(now):
            self.note(now, at_once=True)
            hint(LOOK, self.attempt.pk)
        self.frames.publish(now)
        self.frames.publish_holes(now)
        self.note(now)
        self.compact(now)

    def note(self, now: float, *, at_once: bool = False) -> None:
        """The list row and what metrics came to, if it is time and something is new."""
        values = self.metric_values.is_due(now) or (self.metric_values.pending and self.is_over())
        if not (self._to_note or values) or (now - self._noted < NOTE_EVERY_S and not at_once):
            return
        with transaction.atomic():
            hold(self.attempt, self.holder)
            fields = self.summary.fields(self.window.blocks.get(STEP_END))
            if self._to_note:
                note_data(self.attempt, now=timezone.now(), **fields)
            if values:
                self.metric_values.write(now)
        self._noted, self._to_note = now, False

    def compact(self, now: float) -> None:
        """Young data into segments, if there is much, or it is old, or no more will come."""
        if self.young.is_due(now) or (self.young and self.is_over()):
            self.young.compact(self.holder, now)

    def is_over(self) -> bool:
        """Ended, and every part was finished or given up."""
        ended = self.attempt.status == Status.ENDED
        return ended and not self.attempt.parts.filter(finished_at=None, lost_at=None).exists()

    def finish(self) -> bool:
        """Mark an attempt that is over and wholly in segments; True when it needs serving no more."""
        if not self.is_over() or self.young or self._to_note or self.metric_values.pending:
            return False
        with transaction.atomic():
            hold(self.attempt, self.holder)
            if Tail.objects.filter(attempt=self.attempt).exists():
                return False
            Attempt.objects.filter(pk=self.attempt.pk).update(compacted=True)
        slot_time.store(self.attempt)
        return True
