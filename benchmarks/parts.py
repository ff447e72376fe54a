"""The product on a database of one's choice, which `manage.py up` does not offer: its parts, started one by one as
docker-compose.yml does."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.product import REPO, Product, free_port, wait_for
from webapp.supervisor import catalogue
from webapp.supervisor.environment import Place, of_server
from webapp.supervisor.home import Home, read_json
from webapp.supervisor.own_server import readiness
from webapp.supervisor.part import Part
from webapp.supervisor.shutdown import stop_everything


@contextmanager
def product_on(database: str, home: Path) -> Iterator[Product]:
    """Everything but nodes, ready when this returns, stopped afterwards. `database`: its URL."""
    place = Place(Home(home.resolve()), "127.0.0.1", free_port(), free_port(), nodes=0, slots=0)
    place.home.prepare()
    environment = {**of_server(place, "measured"), "DATABASE_URL": database}
    parts = [catalogue.redis(place)]
    try:
        parts[0].start()
        with (place.home.logs / "prepare.log").open("wb") as log:
            subprocess.run(
                catalogue.prepare_command(), env=environment, cwd=REPO, stdout=log, stderr=subprocess.STDOUT, check=True
            )
        for name, command in catalogue.server_commands(place).items():
            parts.append(Part(name, command, environment, REPO, place.home))
            parts[-1].start()
        wait_for(lambda: _is_ready(place.url), 240, "all parts to be ready")
        yield Product(home=home, url=place.url, database=database, **read_json(place.home.login))
    finally:
        stop_everything(place, parts, threading.Event())


def _is_ready(url: str) -> bool:
    found = readiness(url)
    return found is not None and not found.missing
