"""Small files that appear whole or not at all."""

import json
from pathlib import Path
from typing import Any

from trainer_agent.wire import whole_file


def write_whole(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write by rename, synced: after a power cut there is the old file or the new one."""
    whole_file.write_whole(str(path), data, mode, sync=True)


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
