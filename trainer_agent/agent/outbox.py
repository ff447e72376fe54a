"""Makes batches of what there is to say about one attempt, and puts them into its spool.

What was taken from rings and logs is held until the disk has it: nothing more is taken meanwhile, and the cursor on
disk stays where it was. Only news (events) goes ahead of it, into the room that the spool keeps back.
"""

import logging
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from trainer_agent.agent.collect import Collector, Counts, dropped_event, f8, u4
from trainer_agent.agent.sample import Sample
from trainer_agent.agent.spool import Spool
from trainer_agent.agent.tail import LogTail
from trainer_agent.wire import codec
from trainer_agent.wire.messages import WIRE_VERSION, Batch, Event, LogBytes, SampleColumns, StepColumns, ValueColumns

log = logging.getLogger(__name__)

BATCHES_AT_ONCE = 8  # a chatty rank must not keep the loop from the other attempts
TRY_AGAIN = 0.5  # seconds after the disk refused
# What a spool that fills up gives up in turn, as shares of its size: samples are dropped, logs wait in their files,
# and at last step records wait in their rings.
SAMPLES_UNTIL, LOGS_UNTIL = 0.8, 0.9
SPOOL_FULL, DISK_FULL = "spool_full", "disk_full"


@dataclass(slots=True)
class Taken:
    """What one batch holds, and how far everything had been read after it."""

    events: list[Event] = field(default_factory=list)
    steps: list[StepColumns] = field(default_factory=list)
    values: list[ValueColumns] = field(default_factory=list)
    samples: list[SampleColumns] = field(default_factory=list)
    logs: list[LogBytes] = field(default_factory=list)
    read: dict[str, Any] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Nothing to tell."""
        return not (self.events or self.steps or self.values or self.samples or self.logs)


class Outbox:
    """Events, samples, rings and logs of one attempt on their way into the spool."""

    def __init__(self, attempt: int, node: str, spool: Spool, collector: Collector, tail: LogTail) -> None:
        self.spool = spool
        self.trouble: OSError | None = None  # why the disk does not take what is held
        self.counts: dict[int, Counts] = {}  # rank -> step records made, and taken into the spool
        self._attempt = attempt
        self._node = node
        self._collector = collector
        self._tail = tail
        self._events: list[Event] = []
        self._held: Taken | None = None
        self._read = self._positions()  # as the spool's newest record has it
        self._try_at = 0.0
        self._held_back = ""  # why nothing was taken for a while, if so
        self._samples: deque[Sample] = deque()
        self._lost_samples: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def has_events(self) -> bool:
        """Whether something happened that the server should hear of now."""
        return bool(self._events)

    @property
    def is_empty(self) -> bool:
        """Whether all that was taken or told is on disk."""
        return not self._events and self._held is None

    def follow(self, rank: int) -> None:
        """Read the rings of one more rank."""
        self._collector.follow(rank)

    def add_event(self, event: Event) -> None:
        """For the next batch."""
        self._events.append(event)

    def add_samples(self, samples: list[Sample]) -> None:
        """From the sampler's thread. When room is short they are the first to go, counted."""
        reason = DISK_FULL if self.trouble else "" if self.spool.has_room(SAMPLES_UNTIL) else SPOOL_FULL
        with self._lock:
            if reason:
                self._lost_samples[reason] += len(samples)
            else:
                self._samples.extend(samples)

    def flush(self, state: dict[str, Any]) -> bool:
        """What is new into batches; `state` becomes part of their cursors. True when there may be more."""
        return all(self.flush_one(state) for _ in range(BATCHES_AT_ONCE))

    def drain(self, state: dict[str, Any]) -> bool:
        """The same for what an ended launch left. True once there is nothing more."""
        return not self.flush(state) and self.is_empty and not self._held_back and self._tail.is_at_the_end

    def flush_one(self, state: dict[str, Any]) -> bool:
        """One batch on disk; False when there was nothing to put into it, or no room for it."""
        now, clock = time.time(), time.monotonic()
        self.counts = self._collector.counts(self._read["rings"])
        if self._held is None:
            taken = self._take(now)
            self._held = None if taken.is_empty else taken
        if self._held is None or clock < self._try_at:
            return self._tell_news(state, now, clock) and self._held is None
        try:
            self._append(state, self._held, now)
        except OSError as error:
            self._note_trouble(error, clock)
            self._tell_news(state, now, clock)
            return False
        self._held, self.trouble, self._try_at = None, None, 0.0
        return True

    def close(self) -> None:
        """Let go of the files."""
        self._collector.close()
        self.spool.close()

    def _take(self, now: float) -> Taken:
        taken = Taken(samples=sample_columns(self._take_samples()))
        if self.spool.is_full:  # rings and log files keep it for us
            self._held_back = SPOOL_FULL
        else:
            taken.steps, taken.values, taken.events = self._collector.take(now, self._held_back)
            taken.events += self._lost(now)
            self._held_back = ""
        if self.spool.has_room(LOGS_UNTIL):
            taken.logs = self._tail.take(now)
        taken.read = self._positions()
        return taken

    def _append(self, state: dict[str, Any], taken: Taken, now: float) -> None:
        """What was taken and all news, with the cursor after both."""
        everything = replace(taken, events=[*taken.events, *self._events])
        self._write(everything, {**state, **taken.read}, now, urgent=False)
        self._events, self._read = [], taken.read

    def _tell_news(self, state: dict[str, Any], now: float, clock: float) -> bool:
        """Events alone, ahead of what the disk has no room for: their cursor says that nothing more was read."""
        if not self._events:
            return False
        try:
            self._write(Taken(self._events), {**state, **self._read}, now, urgent=True)
        except OSError as error:
            self._note_trouble(error, clock)
            return False
        self._events = []
        self.trouble = None if self._held is None else self.trouble
        return True

    def _write(self, taken: Taken, cursor: dict[str, Any], now: float, *, urgent: bool) -> None:
        batch = Batch(
            v=WIRE_VERSION,
            attempt=self._attempt,
            node=self._node,
            seq=self.spool.last_seq + 1,
            sent_at=now,
            events=[event for event in taken.events if _can_be_sent(event)],
            steps=taken.steps,
            values=taken.values,
            samples=taken.samples,
            logs=taken.logs,
        )
        self.spool.append(batch.seq, codec.encode(batch), cursor, urgent=urgent)

    def _note_trouble(self, error: OSError, clock: float) -> None:
        if self.trouble is None:
            log.warning("attempt %d: the disk does not take what there is to tell: %s", self._attempt, error)
        self.trouble, self._try_at, self._held_back = error, clock + TRY_AGAIN, DISK_FULL

    def _positions(self) -> dict[str, Any]:
        return {"rings": self._collector.positions, "logs": dict(self._tail.offsets)}

    def _take_samples(self) -> list[Sample]:
        with self._lock:
            samples = list(self._samples)
            self._samples.clear()
        return samples

    def _lost(self, now: float) -> list[Event]:
        with self._lock:
            lost, self._lost_samples = self._lost_samples, Counter()
        return [dropped_event(now, None, "samples", count, reason) for reason, count in lost.items()]


def _can_be_sent(event: Event) -> bool:
    """A script's fact may be a number or text that no message can hold; it must not keep the others."""
    try:
        msgspec.msgpack.encode(event)
    except (ValueError, TypeError, OverflowError):
        log.warning("an event of kind %s cannot be sent", event.kind)
        return False
    return True


def sample_columns(samples: list[Sample]) -> list[SampleColumns]:
    """Columns, one message per metric."""
    by_metric: dict[str, list[Sample]] = {}
    for sample in samples:
        by_metric.setdefault(sample.metric, []).append(sample)
    return [
        SampleColumns(
            metric=metric,
            n=len(some),
            rank=u4([sample.rank for sample in some]),
            time=f8([sample.time for sample in some]),
            value=f8([sample.value for sample in some]),
        )
        for metric, some in by_metric.items()
    ]
