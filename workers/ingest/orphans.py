"""Telemetry streams that nobody serves: of attempts that are over or gone. Found by looking at Redis."""

import logging
from datetime import timedelta

import redis
from django.utils import timezone

from trainer_agent.wire import names
from webapp.runs.models import Attempt

log = logging.getLogger(__name__)

KEPT_AFTER_END = timedelta(seconds=60)  # so that the node learns what was acknowledged last


def sweep(client: redis.Redis) -> None:
    """Serve again what got data after its end (a lost node came back); delete what is over or gone."""
    places = {key: names.telemetry_place(key.decode()) for key in client.scan_iter(names.telemetry_pattern(), 1_000)}
    known = {place[0] for place in places.values() if place is not None}
    attempts = Attempt.objects.only("compacted", "ended_at").in_bulk(known)
    for key, place in places.items():
        if place is not None:
            _settle(client, key, attempts.get(place[0]), *place)


def _settle(client: redis.Redis, key: bytes, attempt: Attempt | None, pk: int, node: str) -> None:
    if attempt is not None and not attempt.compacted:
        return
    if attempt is not None and client.xlen(key):
        log.info("attempt %s got data after its end; serving it again", pk)
        Attempt.objects.filter(pk=pk).update(compacted=False)
    elif attempt is None or attempt.ended_at is None or attempt.ended_at < timezone.now() - KEPT_AFTER_END:
        client.delete(key)
        client.hdel(names.acks(node), str(pk))
