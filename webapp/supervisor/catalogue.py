"""Which parts there are and the exact command of each."""

import sys
from pathlib import Path

from webapp.supervisor import environment, redis_server
from webapp.supervisor.environment import Place
from webapp.supervisor.part import Part

CODE = Path(__file__).resolve().parents[2]  # the folder of manage.py


def redis(place: Place) -> Part:
    command = redis_server.configure(place)
    return _part(place, "redis", command, environment.of_agent(place, "redis"))


def server_parts(place: Place) -> list[Part]:
    """Web, worker, beat and ingest; they need Redis and a migrated database."""
    return [
        _part(place, name, command, environment.of_server(place, name))
        for name, command in server_commands(place).items()
    ]


def server_commands(place: Place) -> dict[str, list[str]]:
    """The command of each of them."""
    modules = {
        "web": [
            *["uvicorn", "webapp.asgi:application", "--host", place.address, "--port", str(place.port)],
            *["--lifespan", "off", "--no-access-log", "--timeout-graceful-shutdown", "2"],
        ],
        "worker": ["celery", "-A", "webapp.celery", "worker", "--concurrency", "2", "--without-gossip"],
        "beat": ["celery", "-A", "webapp.celery", "beat"],
        "ingest": ["workers.ingest"],
    }
    return {name: [sys.executable, "-m", *module] for name, module in modules.items()}


def agents(place: Place) -> list[Part]:
    """The local nodes; they need the web part, because they join over HTTP."""
    return [_agent(place, name) for name in place.node_names]


def prepare_command() -> list[str]:
    """Migrate, make the first login, admit local nodes; see management/commands/prepare_home.py."""
    return [sys.executable, str(CODE / "manage.py"), "prepare_home"]


def _agent(place: Place, name: str) -> Part:
    """The join token goes by environment and file, never on the command line; once used it is worthless."""
    home = place.home.node(name)
    command = [
        *[sys.executable, "-m", "trainer_agent.agent", "--home", str(home)],
        *["--join", place.url, "--name", name],
        *(["--slots", str(place.slots)] if place.slots else []),
    ]
    env = {**environment.of_agent(place, name), "PACELINE_JOIN_TOKEN_FILE": str(place.home.join_token(name))}
    return _part(place, name, command, env)


def _part(place: Place, name: str, command: list[str], env: dict[str, str]) -> Part:
    return Part(name, command, env, CODE, place.home)
