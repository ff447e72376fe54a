"""One thing that a check found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GREEN, AMBER, RED = "green", "amber", "red"


@dataclass(frozen=True, slots=True)
class Finding:
    """`kind` is a fixed word, `told` fills its sentence (words.py); `nodes`: names, the one at fault first."""

    level: str
    kind: str
    nodes: tuple[str, ...]
    told: Mapping[str, Any] = field(default_factory=dict)
