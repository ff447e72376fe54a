"""Gets an uploaded folder from the server, checked before it is opened."""

import hashlib
import tarfile
import tempfile
from pathlib import Path

import httpx

from trainer_agent.agent.errors import CannotPrepare

TIMEOUT = 60.0  # seconds without a byte


def unpack(url: str, token: str, sha256: str, folder: Path) -> None:
    """Download the archive, verify its hash, extract it into the folder."""
    with tempfile.TemporaryFile(dir=folder.parent) as file:
        digest = hashlib.sha256()
        try:
            with httpx.stream(
                "GET",
                f"{url}/agent/v1/uploads/{sha256}",
                headers={"Authorization": f"Bearer {token}"},
                timeout=TIMEOUT,
            ) as answer:
                answer.raise_for_status()
                for chunk in answer.iter_raw():
                    digest.update(chunk)
                    file.write(chunk)
        except httpx.HTTPError as error:
            raise CannotPrepare("upload", f"The uploaded files could not be fetched: {error}") from error
        if digest.hexdigest() != sha256:
            raise CannotPrepare("upload", "The uploaded files arrived damaged: their hash differs.")
        file.seek(0)
        try:
            with tarfile.open(fileobj=file, mode="r:gz") as archive:
                archive.extractall(folder, filter="data")
        except (tarfile.TarError, OSError, EOFError) as error:
            raise CannotPrepare("upload", f"The uploaded files could not be unpacked: {error}") from error
