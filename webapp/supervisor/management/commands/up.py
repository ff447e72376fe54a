"""`manage.py up`: the whole product from one command, everything it keeps below one folder."""

import contextlib
import os
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from webapp.supervisor.environment import Place
from webapp.supervisor.home import CannotStart, Home, is_free, read_json
from webapp.supervisor.part import end_leftovers
from webapp.supervisor.supervise import Supervisor


class Command(BaseCommand):
    help = "Start redis, web, worker, beat, ingest and local nodes; stop all of them on Ctrl-C."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--home", default=".paceline", help="folder for all state (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port of the page (default: %(default)s)")
        parser.add_argument("--nodes", type=int, default=2, help="local nodes to start (default: %(default)s)")
        parser.add_argument(
            "--slots",
            type=int,
            default=2,
            help="CPU slots per node; 0: one slot for each GPU of this machine (default: %(default)s)",
        )
        parser.add_argument(
            "--address",
            default="127.0.0.1",
            help="address of this machine to listen on, so that other machines can join (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            place = self._take_place(options)
            code = Supervisor(place, self._say).run(lambda: self._when_ready(place))
        except CannotStart as error:
            raise CommandError(str(error), returncode=2) from error
        raise SystemExit(code)

    def _take_place(self, options: dict[str, Any]) -> Place:
        """Lock the folder, end what an `up` that was killed left behind, then take the ports."""
        home = Home(Path(options["home"]).expanduser().resolve())
        address, port = options["address"], options["port"]
        lock = home.lock()
        home.prepare()
        end_leftovers(home.run)
        port = self._take_port(address, port)
        lock.held_by(f"process {os.getpid()} (http://{address}:{port})")
        return Place(home, address, port, home.port("redis", address), options["nodes"], options["slots"])

    def _take_port(self, address: str, port: int) -> int:
        if not is_free(address, port):
            raise CannotStart(
                f"Port {port} on {address} is taken by another program. Choose another one: --port {port + 1}"
            )
        return port

    def _when_ready(self, place: Place) -> None:
        login = read_json(place.home.login)
        password = login.get("password") or "the one that you chose"
        self._say(f"\n  {place.url}\n  user name: {login.get('username')}\n  password:  {password}\n")
        self._say("Ctrl-C stops everything.")

    def _say(self, line: str) -> None:
        """A closed terminal or pipe is no reason to stop."""
        with contextlib.suppress(OSError):
            self.stdout.write(line)
            self.stdout.flush()
