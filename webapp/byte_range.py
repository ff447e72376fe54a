"""Which part of a file a request asks for (RFC 9110, section 14). Pure."""

import re
from dataclasses import dataclass

_ONE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)


class Outside(Exception):
    """The file has none of the bytes that were asked for."""


@dataclass(frozen=True)
class Part:
    """`length` bytes from byte `first` on, the first of a file being 0."""

    first: int
    length: int

    @property
    def last(self) -> int:
        """Its last byte."""
        return self.first + self.length - 1


def part_asked(header: str, size: int) -> Part | None:
    """The part that `Range: header` means in a file of `size` bytes. Outside.

    None is the whole file: an empty one has no parts, and a header of several ranges or of none that can be read may be
    passed over.
    """
    found = _ONE.fullmatch(header.strip())
    if found is None or not size:
        return None
    first, last = (int(number) if number else None for number in found.groups())
    if first is None:
        return None if last is None else _within(max(size - last, 0), size)
    if last is None:
        return _within(first, size)
    return None if last < first else _within(first, min(last + 1, size))


def _within(first: int, end: int) -> Part:
    if first >= end:
        raise Outside
    return Part(first, end - first)
