"""A number for each living object, never given twice. An `id` is given again as soon as its object is gone."""

import weakref
from itertools import count
from typing import Any


class Numbers:
    """Numbers from 1 on. Holds no object alive, asks none for a hash, and leaves nothing on it."""

    def __init__(self) -> None:
        self._next = count(1)
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}

    def of(self, thing: Any) -> int:
        """The object's number, a new one when it is new."""
        known = self._known.get(id(thing))
        if known is not None and known[0]() is thing:
            return known[1]
        number = next(self._next)
        self._known[id(thing)] = (weakref.ref(thing), number)
        return number
