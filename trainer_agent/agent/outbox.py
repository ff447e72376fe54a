"""Makes batches of what there is to say about one attempt, and puts them into its spool."""

import threading
import time
from collections import deque

from trainer_agent.agent.collect import Collector, dropped_event, f8, u4
from trainer_agent.agent.sample import Sample
from trainer_agent.agent.spool import Spool
from trainer_agent.agent.tail import LogTail
from trainer_agent.wire import codec
from trainer_agent.wire.messages import WIRE_VERSION, Batch, Event, LogBytes, SampleColumns, StepColumns, ValueColumns

BATCHES_AT_ONCE = 8  # a chatty rank must not keep the loop from the other attempts


class Outbox:
    """Events, samples, rings and logs of one attempt on their way into the spool."""

    def __init__(self, attempt: int, node: str, spool: Spool, collector: Collector, tail: LogTail) -> None:
        self.spool = spool
        self._attempt = attempt
        self._node = node
        self._collector = collector
        self._tail = tail
        self._events: list[Event] = []
        self._samples: deque[Sample] = deque()
        self._lost_samples = 0
        self._lock = threading.Lock()

    @property
    def has_events(self) -> bool:
        """Whether something happened that the server should hear of now."""
        return bool(self._events)

    def follow(self, rank: int) -> None:
        """Read the rings of one more rank."""
        self._collector.follow(rank)

    def add_event(self, event: Event) -> None:
        """For the next batch."""
        self._events.append(event)

    def add_samples(self, samples: list[Sample]) -> None:
        """From the sampler's thread. With a full spool they are the first to go, counted."""
        with self._lock:
            if self.spool.is_full:
                self._lost_samples += len(samples)
            else:
                self._samples.extend(samples)

    def flush(self, state: dict[str, object]) -> None:
        """Everything that is new into batches; `state` becomes part of their cursors."""
        for _ in range(BATCHES_AT_ONCE):
            if not self.flush_one(state):
                return

    def drain(self, state: dict[str, object]) -> bool:
        """The same for what an ended launch left. True once there is nothing more."""
        for _ in range(BATCHES_AT_ONCE):
            if not self.flush_one(state):
                return not self.spool.is_full
        return False

    def flush_one(self, state: dict[str, object]) -> bool:
        """One batch; False when there was nothing to put into it."""
        now = time.time()
        steps: list[StepColumns] = []
        values: list[ValueColumns] = []
        logs: list[LogBytes] = []
        if not self.spool.is_full:  # else rings and log files keep it for us
            steps, values, facts = self._collector.take(now)
            logs = self._tail.take(now)
            self._events += facts + self._losses(now)
        events, self._events = self._events, []
        samples = sample_columns(self._take_samples())
        if not (events or steps or values or samples or logs):
            return False
        seq = self.spool.last_seq + 1
        batch = Batch(
            v=WIRE_VERSION,
            attempt=self._attempt,
            node=self._node,
            seq=seq,
            sent_at=now,
            events=events,
            steps=steps,
            values=values,
            samples=samples,
            logs=logs,
        )
        cursor = {**state, "rings": self._collector.positions, "logs": self._tail.offsets}
        self.spool.append(seq, codec.encode(batch), cursor)
        return True

    def close(self) -> None:
        """Let go of the files."""
        self._collector.close()
        self.spool.close()

    def _take_samples(self) -> list[Sample]:
        with self._lock:
            samples = list(self._samples)
            self._samples.clear()
        return samples

    def _losses(self, now: float) -> list[Event]:
        found = [
            dropped_event(now, rank, "log bytes", count, "too_fast")
            for rank, count in self._tail.take_skipped().items()
        ]
        with self._lock:
            if self._lost_samples:
                found.append(dropped_event(now, None, "samples", self._lost_samples, "spool_full"))
                self._lost_samples = 0
        return found


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
