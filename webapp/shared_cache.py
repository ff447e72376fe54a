"""Django's cache for all web processes together, in Redis: allauth counts attempts to log in there."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import redis
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache


class JsonValues:
    """Values as JSON, never as pickle: Redis is no place to take code from."""

    def dumps(self, value: Any) -> str:
        return json.dumps(value)

    def loads(self, stored: bytes) -> Any:
        return json.loads(stored)


class SharedCache(RedisCache):
    """Django's Redis cache. While Redis is away each process counts on its own, so that people can log in."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._here = LocMemCache("while-redis-is-away", {})

    def add(self, *args: Any, **named: Any) -> bool:
        return bool(_first(partial(super().add, *args, **named), partial(self._here.add, *args, **named)))

    def get(self, *args: Any, **named: Any) -> Any:
        return _first(partial(super().get, *args, **named), partial(self._here.get, *args, **named))

    def set(self, *args: Any, **named: Any) -> None:
        _first(partial(super().set, *args, **named), partial(self._here.set, *args, **named))

    def delete(self, *args: Any, **named: Any) -> bool:
        return bool(_first(partial(super().delete, *args, **named), partial(self._here.delete, *args, **named)))

    def clear(self) -> None:
        """Only what is ours: streams and commands lie in the same Redis."""
        self._here.clear()
        client = self._cache.get_client(write=True)
        if ours := list(client.scan_iter(match=f"{self.key_prefix}:*", count=1000)):
            client.delete(*ours)


def _first(shared: Callable[[], Any], alone: Callable[[], Any]) -> Any:
    try:
        return shared()
    except redis.RedisError:
        return alone()
