"""Keeps every error of ours out of training: a part that fails is switched off, and the facts say so."""

import contextlib
import functools
import os
from collections.abc import Callable
from time import thread_time_ns
from typing import Any

Hook = Callable[..., Any]


class Guard:
    """Runs hooks. `failed` maps a part to what went wrong in it; in a forked child no part is on.

    While `timed` is set, `spent_ns` grows by the processor time that hooks take in their thread.
    """

    def __init__(self, on_failure: Callable[[], None]) -> None:
        self.failed: dict[str, str] = {}
        self._on_failure = on_failure
        self.in_child = False
        self.timed = False
        self.spent_ns = 0
        self._inside = False
        os.register_at_fork(after_in_child=self._forked)

    def on(self, part: str) -> bool:
        """Whether the part runs here."""
        return not self.in_child and part not in self.failed

    def run(self, part: str, hook: Hook, *args: Any) -> Any:
        """The hook's answer, or None where it failed or is off."""
        if self.in_child or part in self.failed:
            return None
        if self.timed and not self._inside:
            return self._timed(part, hook, args)
        try:
            return hook(*args)
        except Exception as error:
            self.fail(part, error)
            return None

    def fail(self, part: str, error: Exception) -> None:
        """Switch a part off for good."""
        self.failed[part] = f"{type(error).__name__}: {error}"[:300]
        with contextlib.suppress(Exception):
            self._on_failure()

    def _timed(self, part: str, hook: Hook, args: tuple[Any, ...]) -> Any:
        """Hooks run each other: the outermost is timed."""
        self._inside = True
        began = thread_time_ns()
        try:
            return self.run(part, hook, *args)
        finally:
            self.spent_ns += thread_time_ns() - began
            self._inside = False

    def _forked(self) -> None:
        self.in_child = True

    def around(self, part: str, owner: Any, name: str, before: Hook, after: Hook) -> None:
        """Replace `owner.name` by itself with `before(args, kwargs)` and `after(args, kwargs)` around every call."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self.in_child or part in self.failed:
                return original(*args, **kwargs)
            self.run(part, before, args, kwargs)
            try:
                return original(*args, **kwargs)
            finally:
                self.run(part, after, args, kwargs)

        setattr(owner, name, call)
