"""Messages of many nodes as the payload of one tail row: a row costs more than what is in it.

Bytes: a mark that begins no message, how many they are and the length of each (uint32), then the messages as they came.
A payload without the mark is one message, as earlier versions stored it.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

MOST_BYTES = 4 * 1024 * 1024  # of one row, unless a single message has more
_MARK = b"\xc1\x01"  # 0xC1 is no MessagePack, and a zstd frame begins with 0x28


def bundles(messages: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    """Payloads that hold the messages in their order, and how many each holds."""
    some: list[bytes] = []
    size = 0
    for message in messages:
        if some and size + len(message) > MOST_BYTES:
            yield _bundle(some), len(some)
            some, size = [], 0
        some.append(message)
        size += len(message)
    if some:
        yield _bundle(some), len(some)


def messages(payload: bytes) -> list[bytes]:
    """What a payload holds."""
    if not payload.startswith(_MARK):
        return [payload]
    (count,) = struct.unpack_from("<I", payload, len(_MARK))
    begin = len(_MARK) + 4 * (1 + count)
    ends = np.cumsum(np.frombuffer(payload, "<u4", count, len(_MARK) + 4), dtype=np.int64) + begin
    return [payload[first:last] for first, last in pairwise([begin, *ends.tolist()])]


def _bundle(some: list[bytes]) -> bytes:
    lengths = np.array([len(message) for message in some], dtype="<u4")
    return b"".join([_MARK, struct.pack("<I", len(some)), lengths.tobytes(), *some])
