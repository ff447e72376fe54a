"""Small JSON files that appear whole or not at all. Stdlib only."""

import json
import os
from typing import Any, Dict, Optional  # noqa: UP035  (this runs under the user's interpreter, 3.9 and newer)


def write_json(path: str, value: Dict[str, Any], mode: int = 0o644) -> None:  # noqa: UP006
    """Write by rename: a reader sees the old file or the new one."""
    draft = f"{path}.{os.getpid()}.tmp"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(draft, path)


def read_json(path: str) -> Optional[Dict[str, Any]]:  # noqa: UP006, UP045
    """The object in the file; None when there is none or it is no JSON object."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
