"""How a run ended, told like an incident: a rank that is gone ends its run, and then no incident is needed."""

import re
from datetime import datetime
from typing import Any

from benchmarks.detect.seen import Spotted

FAILED = "failed"
NAMES_NOBODY = ("collective_mismatch",)  # whoever notices it first is as likely as not to be right
_RANK = re.compile(r"[Rr]ank (\d+)")


def ended(run: dict[str, Any]) -> tuple[Spotted, ...]:
    """Of a run as the API shows it; empty while it goes on and where it did not fail."""
    if run["outcome"] != FAILED:
        return ()
    rank = None if run["reason"] in NAMES_NOBODY else _RANK.search(run["sentence"])
    subject = f"rank {rank[1]}" if rank else "job"
    at = datetime.fromisoformat(run["ended_at"]).timestamp()
    return (Spotted(FAILED, subject, run["reason"], at, run["steps"], 0.0, run["sentence"]),)
