"""A .tar.gz made piece by piece, never whole in memory or on disk."""

import tarfile
import zlib
from collections.abc import Iterator

_BLOCK = 512


class TarStream:
    """`add` entries in turn, then `close`; each yields the compressed bytes that are ready."""

    def __init__(self) -> None:
        self._gzip = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)

    def add(self, entry: tarfile.TarInfo, parts: Iterator[bytes]) -> Iterator[bytes]:
        """One file of exactly `entry.size` bytes: what comes beyond is cut, what is missing becomes zero bytes."""
        yield self._gzip.compress(entry.tobuf(tarfile.PAX_FORMAT))
        left = entry.size
        for part in parts:
            piece = part[:left]
            left -= len(piece)
            yield self._gzip.compress(piece)
            if not left:
                break
        yield self._gzip.compress(bytes(left + -entry.size % _BLOCK))

    def close(self) -> Iterator[bytes]:
        """The end mark."""
        yield self._gzip.compress(bytes(2 * _BLOCK))
        yield self._gzip.flush()
