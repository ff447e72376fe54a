"""A number for each living object, never given twice. An `id` is given again as soon as its object is gone."""

import weakref
from functools import partial
from itertools import count
from typing import Any


class Numbers:
    """Numbers from 1 on. Holds no object alive, asks none for a hash, and leaves nothing on it.

    `known` has the number of each living object by its `id`, for who cannot spare a call.
    """

    def __init__(self) -> None:
        self.known: dict[int, int] = {}
        self._next = count(1)
        self._watched: dict[int, weakref.ref[Any]] = {}

    def of(self, thing: Any) -> int:
        """The object's number, a new one when it is new."""
        key = id(thing)
        if key not in self.known:
            self._watched[key] = weakref.ref(thing, partial(self._forget, key))
            self.known[key] = next(self._next)
        return self.known[key]

    def _forget(self, key: int, _: Any) -> None:
        """Before another object can be made in the place of the one that is gone."""
        self.known.pop(key, None)
        self._watched.pop(key, None)
