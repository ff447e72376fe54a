"""What web processes count together, in Redis."""

import pytest
import redis
from django.conf import settings
from django.core.cache import cache

from tests.settings import free_port
from webapp.shared_cache import SharedCache


@pytest.fixture
def away() -> SharedCache:
    """Its Redis does not answer."""
    return SharedCache(f"redis://127.0.0.1:{free_port()}/0", settings.CACHES["default"])


def test_processes_count_together_and_nothing_is_pickled(redis_client: redis.Redis) -> None:
    other = SharedCache(settings.REDIS_URL, settings.CACHES["default"])
    other.set("tries", [1.5, 2.5], 60)
    assert cache.get("tries") == [1.5, 2.5]
    assert not cache.add("tries", [], 60)
    assert redis_client.get("pl:cache:1:tries") == b"[1.5, 2.5]"


def test_clearing_it_leaves_the_pipes_alone(redis_client: redis.Redis) -> None:
    redis_client.set("pl:hb:n-1", "alive")
    cache.set("tries", 1)
    cache.clear()
    assert redis_client.keys() == [b"pl:hb:n-1"]


def test_without_redis_a_process_counts_on_its_own(away: SharedCache) -> None:
    assert away.add("login", 1, 60)
    assert not away.add("login", 1, 60)
    away.set("login", [1.5])
    assert away.get("login") == [1.5]
    assert away.delete("login")
