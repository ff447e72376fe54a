"""Waiting for a condition instead of sleeping for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], timeout: float = 10.0) -> T:
    """The first true answer of `condition`, asked 50 times a second; AssertionError after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not true within {timeout} s"
        time.sleep(0.02)
    return answer
