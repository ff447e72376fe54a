"""The ingest loop: streams to database, then acknowledge, then frames. A plain loop in one thread.

Redis and the database may be away at any moment: then nothing is acknowledged and the same messages come again.
"""

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import redis
from django.conf import settings
from django.db import close_old_connections
from redis.backoff import NoBackoff
from redis.retry import Retry

from trainer_agent.wire import names
from webapp.live.watched import which
from webapp.runs.models import Attempt
from workers import alive
from workers.ingest import lease, orphans
from workers.ingest.apply import DATABASE_AWAY
from workers.ingest.held import Held
from workers.ingest.lease import LostLease

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0  # for attempts to serve, when nothing wakes us
SWEEP_EVERY_S = 5.0
_PER_STREAM = 32  # messages of one part in one round
GATHER_S = 0.2  # at most; a transaction costs as much as hundreds of messages, so those of many nodes share it
_GATHER = 4  # times what the last round took
_AWAY_S = 0.5

Entries = list[tuple[bytes, dict[bytes, bytes]]]


class Ingest:
    """Serves as many attempts as it can get; several processes share them."""

    def __init__(self) -> None:
        self.holder = lease.new_holder()
        self.held: dict[int, Held] = {}
        self._client = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=5, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0)
        )
        self._woken: bytes | None = None  # id of the last word to look for new attempts
        self._look_at = self._sweep_at = self._read_at = 0.0

    def run(self, stop: threading.Event) -> None:
        """Until told to stop; then lets go of its attempts, so that another process goes on at once."""
        log.info("ingest %s serves", self.holder)
        while not stop.is_set():
            alive.show("ingest")
            try:
                self.round()
            except redis.RedisError as error:
                log.warning("Redis is away: %s", error)
                stop.wait(_AWAY_S)
            except DATABASE_AWAY as error:
                log.warning("the database is away, nothing is acknowledged: %s", error)
                close_old_connections()
                stop.wait(_AWAY_S)
        self._leave()

    def _leave(self) -> None:
        try:
            lease.release(self.holder)
        except DATABASE_AWAY as error:
            log.warning("leases were not released, they run out: %s", error)
        self._client.close()

    def round(self) -> None:
        """Wait for messages a while, store them, publish and compact what is due."""
        time.sleep(max(0.0, self._read_at - time.monotonic()))
        now = time.monotonic()
        if now >= self._look_at:
            self._look(now)
        found = self._read(self._patience(now))
        began = time.monotonic()
        for pk, received in found.items():
            self._guarded(self.held[pk], partial(self._store, received=received))
        now = time.monotonic()
        self._read_at = now + _gather_s(found, now - began)
        for held in list(self.held.values()):
            self._guarded(held, partial(Held.tend, now=now))
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_EVERY_S
            orphans.sweep(self._client)

    def _look(self, now: float) -> None:
        self._look_at = now + LOOK_EVERY_S
        mine = lease.renew(self.holder, set(self.held))
        for pk in set(self.held) - mine:
            log.warning("attempt %s is served by another process or gone", pk)
            del self.held[pk]
        for held in list(self.held.values()):
            self._guarded(held, self._look_at_one)
        for attempt in lease.claim(self.holder):
            held = Held(attempt, self.holder)
            self.held[attempt.pk] = held
            self._guarded(held, Held.start)
        watched = which(held.attempt.run.uid for held in self.held.values())
        for held in self.held.values():
            held.frames.watch(now, is_watched=held.attempt.run.uid in watched)

    def _look_at_one(self, held: Held) -> None:
        held.look()
        if held.finish():
            lease.release(self.holder, held.attempt)
            self.held.pop(held.attempt.pk)

    def _patience(self, now: float) -> float:
        waits = [wait for held in self.held.values() if (wait := held.frames.wait_s(now)) is not None]
        return min([self._look_at - now, *waits])

    def _read(self, patience: float) -> dict[int, dict[str, Entries]]:
        """Messages by attempt and node. Always from the start of a stream: what was stored is deleted from it."""
        places = {
            names.telemetry(pk, node).encode(): (pk, node) for pk, held in self.held.items() for node in held.nodes
        }
        wake = names.wake_ingest().encode()
        if self._woken is None:
            words: Any = self._client.xrevrange(wake, count=1)
            self._woken = words[0][0] if words else b"0"
        streams = {**dict.fromkeys(places, b"0"), wake: self._woken}
        block = max(1, int(patience * 1000))
        found: dict[int, dict[str, Entries]] = {}
        replies: Any = self._client.xread(streams, count=_PER_STREAM, block=block)  # type: ignore[arg-type]
        for key, entries in replies or []:
            if key == wake:
                self._woken, self._look_at = entries[-1][0], 0.0
            else:
                pk, node = places[key]
                found.setdefault(pk, {})[node] = entries
        return found

    def _store(self, held: Held, received: dict[str, Entries]) -> None:
        field = names.FIELD.encode()
        messages = {node: [fields.get(field, b"") for _id, fields in entries] for node, entries in received.items()}
        done = held.store(messages)
        pipe = self._client.pipeline(transaction=False)
        for node, seq in done.seqs.items():
            pipe.hset(names.acks(node), str(held.attempt.pk), seq)
        for node, entries in received.items():
            pipe.xdel(names.telemetry(held.attempt.pk, node), *(entry_id for entry_id, _fields in entries))
        pipe.incrby(names.points_stored(), sum(points.index.size for points in done.points))
        pipe.execute()
        if done.finished:
            self._look_at = 0.0

    def _guarded(self, held: Held, act: Callable[[Held], None]) -> None:
        """An attempt that fails is left alone until its lease has run out; the others go on."""
        try:
            act(held)
        except (LostLease, Attempt.DoesNotExist):
            log.warning("attempt %s is served by another process or gone", held.attempt.pk)
            self.held.pop(held.attempt.pk, None)
        except (redis.RedisError, *DATABASE_AWAY):
            raise
        except Exception:
            log.exception("attempt %s cannot be served for now", held.attempt.pk)
            self.held.pop(held.attempt.pk, None)


def _gather_s(found: dict[int, dict[str, Entries]], took: float) -> float:
    """Seconds in which messages gather before the next read; none while there are more than one read takes."""
    more = any(len(entries) == _PER_STREAM for received in found.values() for entries in received.values())
    return 0.0 if more else min(GATHER_S, _GATHER * took)
