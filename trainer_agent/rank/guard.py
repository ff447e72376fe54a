"""Keeps every error of ours out of training: a part that fails is switched off, and the facts say so."""

import contextlib
import functools
import os
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

Hook = Callable[..., Any]


class Guard:
    """Runs hooks. `failed` maps a part to what went wrong in it; in a forked child no part is on.

    While `timed` is set, `spent_ns` grows by the time that hooks take. By the wall's clock: the processor's is a system
    call, which costs as much as the shorter hooks do.
    """

    def __init__(self, on_failure: Callable[[], None], now: Callable[[], int] = perf_counter_ns) -> None:
        self.failed: dict[str, str] = {}
        self._on_failure = on_failure
        self._now = now  # nanoseconds
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

    def guarded(self, part: str, hook: Hook) -> Hook:
        """`hook` as something that torch may call: it answers None where it failed or is off."""
        failed = self.failed

        def call(*args: Any) -> Any:
            if self.timed or self.in_child or part in failed:
                return self.run(part, hook, *args)
            try:
                return hook(*args)
            except Exception as error:
                return self.fail(part, error)

        return call

    def around(self, part: str, owner: Any, name: str, before: Hook, after: Hook) -> None:
        """Replace `owner.name` by itself with `before(args, kwargs)` and `after(args, kwargs)` around every call.

        Calls the hooks itself instead of by `run`: every frame counts in what is called in every step.
        """
        original = getattr(owner, name)
        failed = self.failed

        def slowly(*args: Any, **kwargs: Any) -> Any:
            self.run(part, before, args, kwargs)
            try:
                return original(*args, **kwargs)
            finally:
                self.run(part, after, args, kwargs)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self.timed or self.in_child or part in failed:
                return slowly(*args, **kwargs)
            try:
                before(args, kwargs)
            except Exception as error:
                self.fail(part, error)
            try:
                return original(*args, **kwargs)
            finally:
                if not (self.in_child or part in failed):
                    try:
                        after(args, kwargs)
                    except Exception as error:
                        self.fail(part, error)

        setattr(owner, name, call)

    def _timed(self, part: str, hook: Hook, args: tuple[Any, ...]) -> Any:
        """Hooks run each other: the outermost is timed."""
        self._inside = True
        began = self._now()
        try:
            return self.run(part, hook, *args)
        finally:
            self.spent_ns += self._now() - began
            self._inside = False

    def _forked(self) -> None:
        self.in_child = True
