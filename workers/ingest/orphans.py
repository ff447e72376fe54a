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
    for key in client.scan_iter(match=names.telemetry_pattern(), count=1_000):
        place = names.telemetry_place(key.decode())
        if place is not None:
            _settle(client, key, *place)


def _settle(client: redis.Redis, key: bytes, pk: int, node: str) -> None:
    attempt = Attempt.objects.filter(pk=pk).only("compacted", "ended_at").first()
    if attempt is not None and not attempt.compacted:
        return
    if attempt is not None and client.xlen(key):
        log.info("attempt %s got data after its end; serving it again", pk)
        Attempt.objects.filter(pk=pk).update(compacted=False)
    elif attempt is None or attempt.ended_at is None or attempt.ended_at < timezone.now() - KEPT_AFTER_END:
        client.delete(key)
        client.hdel(names.acks(node), str(pk))
