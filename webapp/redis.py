"""Redis connections of the server: explicit time-outs, no hidden retries."""

from functools import cache

import redis
import redis.asyncio
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry


@cache
def connection() -> redis.Redis:
    """The process's pooled connection; bytes in, bytes out."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=5,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), 0),
    )


def async_connection() -> redis.asyncio.Redis:
    """A connection of its own for one event stream."""
    from redis.asyncio.retry import Retry as AsyncRetry

    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL, socket_timeout=30, socket_connect_timeout=2, retry=AsyncRetry(NoBackoff(), 0)
    )
