"""What the Config tab says of a launch: code, packages, the node's environment."""

from typing import Any

from django.utils.translation import gettext as _

from webapp.provenance import queries
from webapp.provenance.models import Provenance
from webapp.runs.models import Attempt

MOST_LINES, MOST_LETTERS = 2_000, 120_000  # of a difference that is shown; the whole of it can be downloaded
_TONES = {"+": "add", "-": "del", "@": "at", "d": "file"}


def parts(attempt: Attempt) -> dict[str, Any]:
    """For templates/provenance/part.html."""
    rows = queries.told(attempt)
    first = rows[0] if rows else None
    if first is None:
        return {"attempt": attempt, "first": None}
    diff = queries.diff_of(first)
    lines = diff[:MOST_LETTERS].splitlines()[:MOST_LINES]
    return {
        "attempt": attempt,
        "first": first,
        "nodes": len(rows),
        "code_rows": _code_rows(first),
        "packages": queries.packages_of(first),
        "environment": sorted(first.environment.items()),
        "diff_lines": [(_tone(line), line) for line in lines],
        "diff_is_long": len(diff) > MOST_LETTERS or diff.count("\n") > MOST_LINES,
        "differences": queries.differences(rows),
    }


def _code_rows(first: Provenance) -> list[tuple[str, str]]:
    rows = [
        (_("Branch"), first.branch),
        (_("Remote"), first.remote),
        (_("Folder"), first.folder),
        (_("Python"), " ".join(filter(None, (first.python, first.executable)))),
    ]
    return [(name, value) for name, value in rows if value]


def _tone(line: str) -> str:
    """Headers of a file start with the signs of changed lines too."""
    if line.startswith(("+++", "---", "index ", "diff ")):
        return "file"
    return _TONES.get(line[:1], "") if line[:1] in "+-@" else ""
