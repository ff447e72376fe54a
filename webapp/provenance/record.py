"""The only writer of provenance: what a node tells of a launch, checked and bounded, without the run's secrets."""

import hashlib
import json
import zlib
from typing import Any

from django.utils import timezone

from trainer_agent.wire.messages import Event
from webapp.provenance.models import PackageList, Provenance
from webapp.runs.models import AttemptNode
from webapp.runs.secrets import redact

DIFF_LIMIT = 1024 * 1024  # bytes
_MOST = 5_000  # packages or variables
_MOST_FILES = 100
_LONGEST = 4_096


def note(part: AttemptNode, event: Event) -> None:
    """Keep it. A later word about the same launch, such as one after another try at a port, replaces it."""
    told = event.data
    diff = redact(part.attempt.run, _text(told, "diff", DIFF_LIMIT)).encode("utf-8", "replace")[:DIFF_LIMIT]
    untracked = told.get("untracked")
    fields = {
        "told_at": timezone.now(),
        "folder": _text(told, "folder", 1000),
        "python": _text(told, "python", 40),
        "executable": _text(told, "executable", 1000),
        "packages": _packages(_names(told, "packages")),
        "environment": {name: redact(part.attempt.run, value) for name, value in _names(told, "environment").items()},
        "commit": _text(told, "commit", 64),
        "branch": _text(told, "branch", 300),
        "remote": redact(part.attempt.run, _text(told, "remote", 1000)),
        "dirty": told.get("dirty") if isinstance(told.get("dirty"), bool) else None,
        "diff": zlib.compress(diff) if diff else b"",
        "diff_bytes": len(diff),
        "diff_cut": told.get("diff_cut") is True,
        "untracked": [str(name)[:500] for name in untracked[:_MOST_FILES]] if isinstance(untracked, list) else [],
    }
    Provenance.objects.update_or_create(part=part, defaults=fields)


def forget_unused() -> None:
    """Lists of packages that no launch names any more."""
    PackageList.objects.filter(told_by=None).delete()


def _packages(names: dict[str, str]) -> PackageList | None:
    if not names:
        return None
    text = json.dumps(names, sort_keys=True)
    row, _made = PackageList.objects.get_or_create(
        sha256=hashlib.sha256(text.encode()).hexdigest(), defaults={"packages": names}
    )
    return row


def _names(told: dict[str, Any], what: str) -> dict[str, str]:
    found = told.get(what)
    pairs = sorted((str(k), str(v)) for k, v in found.items()) if isinstance(found, dict) else []
    return {_storable(name)[:300]: _storable(value)[:_LONGEST] for name, value in pairs[:_MOST]}


def _text(told: dict[str, Any], what: str, longest: int) -> str:
    found = told.get(what)
    return _storable(found)[:longest] if isinstance(found, str) else ""


def _storable(text: str) -> str:
    """PostgreSQL holds no NUL."""
    return text.replace("\0", "")
