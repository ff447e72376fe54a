"""Waiting for a condition instead of sleeping for a time."""

import os
import time
import urllib.request
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 3.0 if os.environ.get("CI") else 1.0  # CI's machines may be busy; what is true at once costs nothing more


def until(condition: Callable[[], T], timeout: float = 10.0) -> T:
    """The first true answer of `condition`, asked 50 times a second.

    AssertionError after `timeout` seconds, in CI after three times that.
    """
    deadline = time.monotonic() + timeout * PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not true within {timeout * PATIENCE:g} s"
        time.sleep(0.02)
    return answer


def answers(url: str) -> bool:
    """Whether a page is served there. Not by httpx, which reads all certificates before it asks: 30 ms, 50 times a
    second, beside a server that tries to start."""
    try:
        urllib.request.urlopen(url, timeout=10).close()
    except OSError:
        return False
    return True
