"""All addresses of the server, from its resolver and from the API's description."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLResolver, get_resolver, reverse

from tests.access.rules import Rule
from webapp.api.api import api

_API = "/api/v1"


@dataclass(frozen=True)
class Address:
    """`name` is its line in the table."""

    name: str
    method: str  # of the API's operations; empty: a page
    path: str  # of the API's operations, with {parts}

    def filled(self, world: dict[str, Any], rule: Rule) -> str:
        """With the things of the world in its parts. KeyError with the part that the world lacks."""
        values = {**world, **{part: world[name] for part, name in rule.args.items()}}
        if self.method:
            return _API + re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), self.path)
        return reverse(self.name, kwargs={part: values[part] for part in _PARTS[self.name]})


def pages() -> list[Address]:
    """Whatever the resolver knows, but for the API's operations."""
    known = {f"api:{name}" for name in ("openapi-json", "openapi-view", "api-root")}
    return [Address(name, "", "") for name in sorted(_PARTS) if not name.startswith("api:") or name in known]


def operations() -> list[Address]:
    """Every operation of the API."""
    paths = api.get_openapi_schema()["paths"]
    found = [(method.upper(), path.removeprefix(_API)) for path, methods in paths.items() for method in methods]
    return [Address(f"{method} {path}", method, path) for method, path in found]


def _walk(resolver: URLResolver, spaces: tuple[str, ...], before: list[str]) -> Iterator[tuple[str, list[str]]]:
    for pattern in resolver.url_patterns:
        parts = [*before, *pattern.pattern.regex.groupindex]
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern, (*spaces, pattern.namespace) if pattern.namespace else spaces, parts)
        elif pattern.callback.__name__ != "unknown_path":  # the API's 404
            yield ":".join((*spaces, pattern.name or f"without a name: {pattern.pattern}")), parts


_PARTS = dict(_walk(get_resolver(), (), []))  # names of the parts of an address
