"""Settings that the script tells, as flat text: `{"model": {"lr": 0.1}}` is `model.lr` = `0.1`."""

from collections.abc import Iterator, Mapping
from typing import Any

MOST = 2_000
LONGEST = 500  # characters of a name, and of a value
_DEEPEST = 8


def flat(values: Mapping[str, Any]) -> dict[str, str]:
    """At most `MOST` of them, in their order."""
    found: dict[str, str] = {}
    for name, value in _walk(values, "", 0):
        if len(found) >= MOST:
            break
        found[name[:LONGEST]] = str(value)[:LONGEST]
    return found


def _walk(values: Mapping[str, Any], before: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _walk(value, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}", value
