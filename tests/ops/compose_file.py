"""docker-compose.yml as Compose reads it: variables put in, anchors merged."""

import re
from pathlib import Path
from typing import Any

import yaml

REPO = Path(__file__).resolve().parents[2]
_VARIABLE = re.compile(r"\$(?:\$|\{(\w+)(?::([-?])([^}]*))?\})")


def services(variables: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = _filled(document(), variables)["services"]
    return found


def document() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((REPO / "docker-compose.yml").read_text())
    return found


def variables_of_the_file() -> set[str]:
    text = (REPO / "docker-compose.yml").read_text()
    return {match[1] for match in _VARIABLE.finditer(text) if match[1] and not match[0].startswith("$$")}


def _filled(value: Any, variables: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, variables) for item in value]
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _one(match, variables), value)
    return value


def _one(match: re.Match[str], variables: dict[str, str]) -> str:
    name, kind, rest = match.groups()
    if name is None:
        return "$"
    value = variables.get(name, "")
    if not value:
        assert kind != "?", f"{name}: {rest}"
        return rest or ""
    return value
