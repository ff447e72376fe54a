"""Small files that appear whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any


def write_whole(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write by rename, synced: after a power cut there is the old file or the new one."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def write_json(path: Path, value: dict[str, Any], mode: int = 0o600) -> None:
    """`write_whole` of a JSON object."""
    write_whole(path, json.dumps(value).encode(), mode)


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in the file; None when there is none or it is no JSON object."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
