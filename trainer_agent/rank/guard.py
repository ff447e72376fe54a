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
        self._in_child = self._timed = False
        self._usual = True  # every part is on, and nothing is timed: all that a hook asks before it runs
        self.spent_ns = 0
        self._inside = False
        os.register_at_fork(after_in_child=self._forked)

    @property
    def timed(self) -> bool:
        return self._timed

    @timed.setter
    def timed(self, timed: bool) -> None:
        self._timed = timed
        self._look()

    def run(self, part: str, hook: Hook, *args: Any) -> Any:
        """The hook's answer, or None where it failed or is off."""
        if self._in_child or part in self.failed:
            return None
        if self._timed and not self._inside:
            return self._run_timed(part, hook, args)
        try:
            return hook(*args)
        except Exception as error:
            return self._fail(part, error)

    def guarded(self, part: str, hook: Hook) -> Hook:
        """`hook` as something that torch may call: it answers None where it failed or is off."""

        def call(*args: Any) -> Any:
            if not self._usual:
                return self.run(part, hook, *args)
            try:
                return hook(*args)
            except Exception as error:
                return self._fail(part, error)

        return call

    def around(self, part: str, owner: Any, name: str, before: Hook, after: Hook) -> None:
        """Replace `owner.name` by itself with `before(args, kwargs)` and `after(args, kwargs)` around every call.

        Calls the hooks itself instead of by `run`: every frame counts in what is called in every step.
        """
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._usual:
                try:
                    before(args, kwargs)
                except Exception as error:
                    self._fail(part, error)
            else:
                self.run(part, before, args, kwargs)
            try:
                return original(*args, **kwargs)
            finally:
                if self._usual:
                    try:
                        after(args, kwargs)
                    except Exception as error:
                        self._fail(part, error)
                else:
                    self.run(part, after, args, kwargs)

        setattr(owner, name, call)

    def _run_timed(self, part: str, hook: Hook, args: tuple[Any, ...]) -> Any:
        """Hooks run each other: the outermost is timed."""
        self._inside = True
        began = self._now()
        try:
            return hook(*args)
        except Exception as error:
            return self._fail(part, error)
        finally:
            self.spent_ns += self._now() - began
            self._inside = False

    def _fail(self, part: str, error: Exception) -> None:
        """Switch a part off for good."""
        self.failed[part] = f"{type(error).__name__}: {error}"[:300]
        self._look()
        with contextlib.suppress(Exception):
            self._on_failure()

    def _forked(self) -> None:
        self._in_child = True
        self._look()

    def _look(self) -> None:
        self._usual = not (self.failed or self._in_child or self._timed)
