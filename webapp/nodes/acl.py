"""Each node's own Redis user: it reads its commands and acknowledgements, writes its telemetry and heartbeat."""

import hashlib
import logging
from urllib.parse import quote, urlsplit, urlunsplit

from django.conf import settings

from trainer_agent.wire import names
from webapp.nodes.models import Node
from webapp.redis import connection

log = logging.getLogger(__name__)


def password_hash(password: str) -> str:
    """SHA-256 as Redis keeps it; the password itself is kept nowhere on the server."""
    return hashlib.sha256(password.encode()).hexdigest()


def ensure(node: Node) -> None:
    """Make or renew the node's user. RedisError when Redis is away; the sweep's `ensure_all` makes up for it."""
    version = str(connection().info("server")["redis_version"])
    rules = names.agent_acl(node.uid, redis7=int(version.split(".", maxsplit=1)[0]) >= 7)
    words = ("ACL", "SETUSER", node.uid, *rules, f"#{node.redis_password_sha256}")
    connection().execute_command(*words)  # type: ignore[no-untyped-call]


def remove(node: Node) -> None:
    """Take the node's user away, which closes its connections, and the orders that it will never read."""
    connection().acl_deluser(node.uid)
    connection().delete(names.commands(node.uid))


def ensure_all() -> int:
    """Make the users that are missing (Redis was restarted), drop those of removed nodes. Returns how many changed."""
    present = {name.decode() if isinstance(name, bytes) else name for name in connection().acl_users()}
    missing = [node for node in Node.objects.filter(removed_at=None) if node.uid not in present]
    for node in missing:
        log.warning("Redis has no user for node %s (%s); making it again", node.uid, node.name)
        ensure(node)
    gone = list(Node.objects.filter(uid__in=present).exclude(removed_at=None))
    for node in gone:
        remove(node)
    return len(missing) + len(gone)


def redis_url(node: Node, password: str) -> str:
    """What the node connects to, as its own user."""
    parts = urlsplit(str(settings.NODE_REDIS_URL or settings.REDIS_URL))
    place = parts.netloc.rsplit("@", 1)[-1]
    return urlunsplit(parts._replace(netloc=f"{node.uid}:{quote(password, safe='')}@{place}"))
