"""Which run of a comparison has which colour. Pure: depends on the chosen runs' ids alone, not on their order."""

from collections.abc import Sequence
from zlib import crc32

COLOURS = 10  # `--run-0` to `--run-9`; runs beyond are grey
_CLEAREST = 5  # the first ones are the easiest to tell apart


def colours(uids: Sequence[str]) -> dict[str, int]:
    """Number of the colour of each of the first COLOURS runs: the one that its id asks for, or else the next free."""
    taken: dict[int, str] = {}
    for uid in sorted(dict.fromkeys(uids[:COLOURS])):
        wanted = crc32(uid.encode()) % _CLEAREST
        order = [(wanted + n) % _CLEAREST for n in range(_CLEAREST)] + list(range(_CLEAREST, COLOURS))
        taken[next(number for number in order if number not in taken)] = uid
    return {uid: number for number, uid in taken.items()}
