"""Arrays of a megabyte come and go with every block that is read or written. What is freed stays with the process for
the next one: to get memory from the system again costs more than the work on it.
"""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # malloc.h
_KEPT = 64 * 1024 * 1024  # bytes at the end of the heap that are not given back
_BIG = 32 * 1024 * 1024  # bytes from which on a piece is the system's own business; the most that glibc takes


def keep() -> None:
    """From now on, in this process, where the C library is glibc."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_TRIM_THRESHOLD, _KEPT)
    mallopt(_MMAP_THRESHOLD, _BIG)
