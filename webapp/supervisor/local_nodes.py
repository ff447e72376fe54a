"""Admits the local agents: a one-time token for each that has no identity yet, the present addresses for the others."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webapp.nodes import lifecycle
from webapp.nodes.enrol import issue_join_token
from webapp.nodes.models import Node
from webapp.supervisor.home import Home, read_json, write_private


def ensure(home: Home, node_names: list[str], url: str, redis_url: str) -> None:
    """`redis_url` is where Redis listens, without a login."""
    for name in node_names:
        identity = home.node(name) / "node.json"
        known = read_json(identity)
        if Node.objects.filter(uid=known.get("node"), name=name, removed_at=None).exists():
            _move(identity, known, url, redis_url)
        else:
            identity.unlink(missing_ok=True)
            _free_name(name)
            write_private(home.join_token(name), issue_join_token(None))


def _move(identity: Path, known: dict[str, Any], url: str, redis_url: str) -> None:
    """The same node, but this `up` may listen elsewhere than the last one."""
    login = urlsplit(known["redis_url"]).netloc.rpartition("@")[0]
    where = urlsplit(redis_url)
    moved = where._replace(netloc=f"{login}@{where.netloc}").geturl()
    write_private(identity, json.dumps({**known, "url": url, "redis_url": moved}))


def _free_name(name: str) -> None:
    """A node whose folder was thrown away never comes back; its successor takes its name."""
    for node in Node.objects.filter(name=name):
        lifecycle.remove(node)
        node.name = f"{name}-{node.uid}"
        node.save(update_fields=["name"])
