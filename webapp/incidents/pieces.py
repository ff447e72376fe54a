"""An autopsy's answers taken apart: what many ranks say alike, stacks and collectives, is kept once. Pure.

A thousand ranks wait at the same line, each with the same frames and the same newest collectives. In a rank's facts
such a piece is replaced by its digest; facts without digests, as they were kept before, read as they are.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

Facts = dict[str, Any]
Pieces = Mapping[str, Any]


def taken_apart(facts: Facts) -> tuple[Facts, dict[str, Any]]:
    """The facts with digests in them, and the pieces by digest."""
    pieces: dict[str, Any] = {}

    def kept(content: Any) -> str:
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
        pieces[digest] = content
        return digest

    return _with(facts, kept), pieces


def put_together(facts: Facts, pieces: Pieces) -> Facts:
    """The facts as they were told. A piece that is not there reads as empty."""
    return _with(facts, lambda content: pieces.get(content, []) if isinstance(content, str) else content)


def _with(facts: Facts, swap: Callable[[Any], Any]) -> Facts:
    """Every piece of the facts through `swap`."""
    found = dict(facts)
    if stacks := facts.get("stacks"):
        found["stacks"] = [{**stack, "frames": swap(stack.get("frames", []))} for stack in stacks]
    if isinstance(flight := facts.get("flight"), dict):
        found["flight"] = {**flight}
        if entries := flight.get("entries"):
            found["flight"]["entries"] = [swap(entry) for entry in entries]
        if config := flight.get("pg_config"):
            found["flight"]["pg_config"] = swap(config)
    return found
