"""A folder on this machine to the server, as one .tar.gz."""

import tarfile
import tempfile
from pathlib import Path

from trainer_agent.cli.errors import Refused
from trainer_agent.cli.server import Server

LEFT_OUT = frozenset({".git", "__pycache__", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache"})


def upload_folder(server: Server, project: str, folder: Path) -> str:
    """Send the folder's files, without caches, virtual environment and history; the SHA-256 that names the upload."""
    with tempfile.TemporaryFile() as packed:
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(folder, arcname=".", filter=_wanted)
            if not any(member.isfile() for member in archive.getmembers()):
                raise Refused(f"{folder} holds no files to upload.")
        packed.seek(0)
        made = server.send_file("/uploads", packed, "application/gzip", project=project)
    return str(made["sha256"])


def _wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if Path(member.name).name in LEFT_OUT or not (member.isfile() or member.isdir()):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
