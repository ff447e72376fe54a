"""Which runs somebody looks at. Pages and open streams note it; ingest makes frames of these only."""

from collections.abc import Iterable
from typing import Any

import redis

from trainer_agent.wire import names
from webapp.redis import connection

KEPT_S = 75  # after the last note
EVERY_S = 10.0  # that an open stream notes it again, should Redis have been emptied


def note(run_uid: str) -> None:
    """Somebody looks at a run now."""
    try:
        connection().set(names.watched(run_uid), b"1", ex=KEPT_S)
    except redis.RedisError:
        return  # the stream that the page opens notes it again


def which(run_uids: Iterable[str]) -> set[str]:
    """Those of the runs that somebody looks at. RedisError when Redis is away."""
    asked = sorted(set(run_uids))
    if not asked:
        return set()
    found: Any = connection().mget([names.watched(uid) for uid in asked])
    return {uid for uid, noted in zip(asked, found, strict=True) if noted}
