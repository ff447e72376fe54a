"""The place in a stream of frames that a page notes before it reads the database."""

from typing import Any

import redis

from trainer_agent.wire import names
from webapp.live import watched
from webapp.redis import connection

START = "0-0"


def cursor(run_uid: str) -> str:
    """Id of the newest frame of a run: what is published after it is news to a page drawn from now on."""
    watched.note(run_uid)
    return _newest(names.live(run_uid))


def list_cursor() -> str:
    """The same for the runs list."""
    return _newest(names.live_list())


def _newest(stream: str) -> str:
    try:
        found: Any = connection().xrevrange(stream, count=1)
    except redis.RedisError:
        return START  # the page is drawn all the same, and its stream begins with a resync
    return found[0][0].decode() if found else START
