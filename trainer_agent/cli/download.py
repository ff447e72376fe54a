"""A file of the server, piece by piece into an open one; when the connection breaks, the next one goes on there."""

import hashlib
import time
from typing import IO

import httpx

from trainer_agent.cli.errors import NotReached, Refused
from trainer_agent.cli.server import Server

_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds before each further try, as long as none brings anything


def download(source: Server, path: str, into: IO[bytes]) -> None:
    """Its first answer must come at once. Refused when it does not arrive whole, by the SHA-256 of the server."""
    digest, came, tag, tries = hashlib.sha256(), 0, "", 0
    while True:
        try:
            with source.stream(path, headers=_on_from(came, tag)) as response:
                if came and response.status_code != httpx.codes.PARTIAL_CONTENT:
                    raise Refused("The file was changed while it was being downloaded. Try again.")
                tag = response.headers.get("ETag", "")
                told = response.headers.get("X-Content-SHA256", "")
                for piece in response.iter_bytes():
                    digest.update(piece)
                    into.write(piece)
                    came, tries = came + len(piece), 0
            break
        except NotReached:
            if not tag or tries == len(_PAUSES):
                raise
            time.sleep(_PAUSES[tries])
            tries += 1
    if told and told != digest.hexdigest():
        raise Refused(f"The file did not arrive whole: its SHA-256 should be {told}. Try again.")


def _on_from(came: int, tag: str) -> dict[str, str]:
    plain = {"Accept-Encoding": "identity"}  # a range is one of the bytes that are sent
    return {**plain, "Range": f"bytes={came}-", "If-Range": tag} if came else plain
