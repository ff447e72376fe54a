"""Small files that appear whole or not at all, also on a full disk where room was kept for them. Stdlib only."""

import contextlib
import errno
import os

KEPT = 4096  # bytes
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def keep_room(path: str) -> None:
    """Take room on the disk for one later `write_whole` of at most KEPT bytes. OSError where there is none."""
    descriptor = os.open(_kept(path), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, KEPT)
    finally:
        os.close(descriptor)


def write_whole(path: str, data: bytes, mode: int, *, sync: bool) -> None:
    """Write by rename: a reader sees the old file or the new one; with `sync`, after a power cut too."""
    draft = f"{path}.{os.getpid()}.tmp"
    try:
        _fill(draft, data, mode, os.O_CREAT | os.O_TRUNC, sync)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        draft = _kept(path)
        if error.errno not in NO_ROOM or len(data) > KEPT or not os.path.exists(draft):
            raise
        _fill(draft, data, mode, 0, sync)
    os.replace(draft, path)


def _fill(path: str, data: bytes, mode: int, flags: int, sync: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | flags, mode)
    try:
        os.fchmod(descriptor, mode)
        written = 0
        while written < len(data):
            written += os.pwrite(descriptor, data[written:], written)
        os.ftruncate(descriptor, len(data))
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _kept(path: str) -> str:
    return f"{path}.kept"
