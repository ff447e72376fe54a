"""Redis as the agent uses it: explicit time-outs, no hidden retries, errors are normal."""

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT = 5.0  # seconds
BLOCK_MS = 2_000  # well under TIMEOUT
FIRST_WAIT, LONGEST_WAIT = 0.2, 5.0  # seconds between tries while Redis is away
# Whatever goes wrong with Redis is waited out: down, loading, out of memory, our user not yet known again.
Away = (redis.RedisError, OSError)


def connect(url: str) -> redis.Redis:
    """A client that fails fast and says so."""
    return redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT,
        socket_connect_timeout=2.0,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


class Patience:
    """How long to wait before the next try: doubles up to a limit, forgotten at the first success."""

    def __init__(self) -> None:
        self.seconds = FIRST_WAIT

    def failed(self) -> float:
        """Seconds to wait now."""
        wait, self.seconds = self.seconds, min(self.seconds * 2, LONGEST_WAIT)
        return wait

    def worked(self) -> None:
        """Redis answers."""
        self.seconds = FIRST_WAIT
