"""Small JSON files that appear whole or not at all. Stdlib only."""

import json
import time
from typing import Any, Dict, Optional  # noqa: UP035  (this runs under the user's interpreter, 3.9 and newer)

from trainer_agent.wire.whole_file import write_whole

TRY_EVERY = 0.5  # seconds


def write_json(path: str, value: Dict[str, Any], mode: int = 0o644) -> None:  # noqa: UP006
    """Write by rename: a reader sees the old file or the new one. OSError when the disk does not take it."""
    write_whole(path, json.dumps(value).encode(), mode, sync=False)


def write_json_until(path: str, value: Dict[str, Any], patience: float) -> bool:  # noqa: UP006
    """The same, again and again for `patience` seconds while the disk does not take it. Whether it did."""
    deadline = time.monotonic() + patience
    while True:
        try:
            write_json(path, value)
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(TRY_EVERY)
        else:
            return True


def read_json(path: str) -> Optional[Dict[str, Any]]:  # noqa: UP006, UP045
    """The object in the file; None when there is none or it is no JSON object."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
