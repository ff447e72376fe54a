"""Whether the ranks have talked to each other at all, also where no hook of ours passes."""

import json
import sys
from typing import Any


def collectives_enqueued() -> int | None:
    """The most collectives that any process group has enqueued, by torch's flight recorder. None: it does not tell."""
    torch: Any = sys.modules.get("torch")
    c10d = getattr(getattr(torch, "_C", None), "_distributed_c10d", None)
    if c10d is None or not hasattr(c10d, "_dump_fr_trace_json"):
        return None
    status = json.loads(c10d._dump_fr_trace_json(False, True)).get("pg_status", {})
    return max((int(group.get("last_enqueued_collective", 0)) for group in status.values()), default=None)
