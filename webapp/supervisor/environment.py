"""The environment of the parts, in one place. No secret stands in it: secrets go by file."""

import os
from dataclasses import dataclass

from webapp.supervisor.home import Home

PART = "PACELINE_PART"
HOME = "PACELINE_HOME"
# Decided by `up` alone, whatever the shell that started it has set.
DECIDED_HERE = (
    "SECRET_KEY",
    "REDIS_URL",
    "DATABASE_URL",
    "NODE_REDIS_URL",
    "PUBLIC_URL",
    "ALLOWED_HOSTS",
    "LOCAL_NODES",
    "DJANGO_SETTINGS_MODULE",
)


@dataclass(frozen=True)
class Place:
    """Where this `up` listens and how many local nodes it has. `slots` is 0 where a node offers its GPUs."""

    home: Home
    address: str
    port: int
    redis_port: int
    nodes: int
    slots: int

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def node_names(self) -> list[str]:
        return [f"local-{number}" for number in range(1, self.nodes + 1)]


def of_server(place: Place, part: str) -> dict[str, str]:
    """Environment of web, worker, beat and ingest."""
    return {
        **of_agent(place, part),
        "SECRET_KEY_FILE": str(place.home.secret_key),
        "REDIS_URL_FILE": str(place.home.redis_url),
        "NODE_REDIS_URL": f"redis://{place.address}:{place.redis_port}/0",
        "PUBLIC_URL": place.url,
        "ALLOWED_HOSTS": ",".join(dict.fromkeys(["127.0.0.1", "localhost", "[::1]", place.address])),
        "LOCAL_NODES": ",".join(place.node_names),
        "DJANGO_SETTINGS_MODULE": "webapp.settings",
    }


def of_agent(place: Place, part: str) -> dict[str, str]:
    """Environment of redis and of a local agent, and so of its runs: nothing of the server's."""
    ours = {name + suffix for name in DECIDED_HERE for suffix in ("", "_FILE")}
    inherited = {key: value for key, value in os.environ.items() if key not in ours}
    return {**inherited, HOME: str(place.home.root), PART: part, "PYTHONUNBUFFERED": "1"}
