"""A capped Redis stream as server-sent events: no gap and no duplicate, or one `resync`."""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

import redis
import redis.asyncio

from trainer_agent.wire import names
from webapp.live.cursors import START
from webapp.redis import async_connection

KEEP_ALIVE_S = 10.0
CHECK_S = 30.0  # between two looks whether the person may still follow
_AT_ONCE = 200
_BLOCK_MS = 1_000  # between two looks whether the page went away
_ID = re.compile(r"\d{1,20}-\d{1,20}")
_FIELD = names.FIELD.encode()

Allowed = Callable[[], Awaitable[bool]]
Wanted = Callable[[bytes], bool]


def everything(_body: bytes) -> bool:
    """Wanted by a page that shows one run."""
    return True


async def events(stream: str, after: str, allowed: Allowed, wanted: Wanted = everything) -> AsyncGenerator[bytes]:
    """Frames after the cursor, from now on when it is empty. Ends when no longer allowed, or when Redis is away:
    the browser then comes back with the id of the last event that it got.
    """
    client = async_connection()
    try:
        async for chunk in _follow(client, stream, after, allowed, wanted):
            yield chunk
    except (redis.RedisError, OSError):
        return
    finally:
        await client.aclose()


async def _follow(
    client: redis.asyncio.Redis, stream: str, after: str, allowed: Allowed, wanted: Wanted
) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    last = after or await _newest(client, stream)
    check_at, quiet_until = time.monotonic() + CHECK_S, time.monotonic() + KEEP_ALIVE_S
    unsure = bool(after)
    while True:
        if unsure and not await _is_there(client, stream, last):
            last = await _newest(client, stream)
            yield _event(last, b'{"kind":"resync"}')
        if _is_cancelled():
            return
        replies: Any = await client.xread({stream: last}, count=_AT_ONCE, block=_BLOCK_MS)
        entries = replies[0][1] if replies else []
        if time.monotonic() >= check_at:
            check_at = time.monotonic() + CHECK_S
            if not await allowed():
                return
        for entry_id, fields in entries:
            last = entry_id.decode()
            if wanted(fields[_FIELD]):
                yield _event(last, fields[_FIELD])
        if time.monotonic() >= quiet_until:
            yield b": still here\n\n"
            quiet_until = time.monotonic() + KEEP_ALIVE_S
        unsure = len(entries) == _AT_ONCE  # behind: what comes next may be trimmed before it is read


def _is_cancelled() -> bool:
    """The page went away. The Redis client sometimes swallows the cancellation itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _is_there(client: redis.asyncio.Redis, stream: str, last: str) -> bool:
    """Whether nothing after this id can have been trimmed."""
    if last == START:
        return bool(await client.xlen(stream) < names.LIVE_MAXLEN)
    return bool(_ID.fullmatch(last)) and bool(await client.xrange(stream, last, last, count=1))


async def _newest(client: redis.asyncio.Redis, stream: str) -> str:
    found: Any = await client.xrevrange(stream, count=1)
    return found[0][0].decode() if found else START


def _event(entry_id: str, body: bytes) -> bytes:
    return b"id: %s\nevent: frame\ndata: %s\n\n" % (entry_id.encode(), body)


def in_projects(projects: Callable[[], frozenset[int]]) -> Wanted:
    """Keeps what says that it is about one of these projects."""
    return lambda body: json.loads(body).get("project") in projects()
