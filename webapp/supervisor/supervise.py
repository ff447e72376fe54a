"""Start every part in order, start again what dies, stop everything when asked."""

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from types import FrameType

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from trainer_agent.wire import names
from webapp.supervisor import catalogue, environment
from webapp.supervisor.environment import Place
from webapp.supervisor.home import CannotStart, read_json, write_private
from webapp.supervisor.own_server import Readiness, readiness
from webapp.supervisor.part import Death, Part, last_lines
from webapp.supervisor.shutdown import stop_everything

_TICK_S = 0.2
_NO_RETRY = Retry(NoBackoff(), 0)
_SAME_SIGNAL_S = 0.5
_SAY_WAITING_EVERY_S = 10.0


class StopAsked(Exception):
    """A person or the system wants us to stop."""


class Supervisor:
    """All parts of one home. `say` shows one line to the person at the terminal."""

    def __init__(self, place: Place, say: Callable[[str], None]) -> None:
        self._place = place
        self._say = say
        self._parts: list[Part] = []
        self._stop_asked = threading.Event()
        self._kill_asked = threading.Event()
        self._asked_at = 0.0
        self._began = time.monotonic()

    def run(self, when_ready: Callable[[], None]) -> int:
        """Run until SIGINT, SIGTERM or SIGHUP; the exit code is 0 when all stopped cleanly."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        try:
            self._start()
            when_ready()
            while True:
                self._tick()
        except StopAsked:
            self._say("Stopping …")
        finally:
            left = stop_everything(self._place, self._parts, self._kill_asked)
        if left:
            self._say(f"Still alive, please look: {', '.join(map(str, left))}")
            return 1
        self._say("Stopped. Nothing is left running.")
        return 1 if self._kill_asked.is_set() else 0

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """The second one means at once, unless it is the first one twice: `make` passes on what its group got too."""
        now = time.monotonic()
        if self._stop_asked.is_set() and now - self._asked_at > _SAME_SIGNAL_S:
            self._kill_asked.set()
        elif not self._stop_asked.is_set():
            self._asked_at = now
        self._stop_asked.set()

    # ---- starting

    def _start(self) -> None:
        place = self._place
        place.home.connection.unlink(missing_ok=True)
        self._say(f"Starting in {place.home.root}")
        self._add([catalogue.redis(place)])
        self._prepare()
        self._wait(lambda: "" if self._forget_signs_of_life(*names.ALIVE_PARTS) else "redis")
        self._add(catalogue.server_parts(place))
        self._wait(lambda: "" if readiness(place.url) else "web")
        self._add(catalogue.agents(place))
        self._wait(lambda: self._missing(readiness(place.url)))
        self._write_connection()
        self._say(f"Ready after {time.monotonic() - self._began:.0f} s.")

    def _add(self, parts: list[Part]) -> None:
        for part in parts:
            part.start()
        self._parts += parts
        if parts:
            self._say(f"  started {', '.join(part.name for part in parts)}")

    def _prepare(self) -> None:
        log = self._place.home.logs / "prepare.log"
        with log.open("wb") as file:
            child = subprocess.Popen(
                catalogue.prepare_command(),
                env=environment.of_server(self._place, "prepare"),
                cwd=catalogue.CODE,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._wait(lambda: "the database" if child.poll() is None else "")
        if child.returncode != 0:
            raise CannotStart("The database could not be prepared:\n" + "\n".join(last_lines(log)))
        self._say("  database ready")

    def _missing(self, found: Readiness | None) -> str:
        return "web" if found is None else ", ".join(found.missing)

    def _wait(self, missing: Callable[[], str]) -> None:
        """Until `missing` names nothing; now and then say what is waited for."""
        said = time.monotonic()
        while waiting_for := missing():
            self._tick()
            if time.monotonic() - said > _SAY_WAITING_EVERY_S:
                said = time.monotonic()
                self._say(f"  waiting for {waiting_for}")

    def _write_connection(self) -> None:
        home = self._place.home
        write_private(home.connection, json.dumps({"url": self._place.url, **read_json(home.login)}))

    # ---- running

    def _tick(self) -> None:
        for part in self._parts:
            death = part.look()
            if death:
                self._tell(death)
        if self._stop_asked.wait(_TICK_S):
            raise StopAsked

    def _tell(self, death: Death) -> None:
        when = "now" if death.wait < 1 else f"in {death.wait:.0f} s"
        self._say(
            f"  {death.part} {death.how}; it is started again {when} (see {self._place.home.logs / death.part}.log)"
        )
        for line in death.last_lines:
            self._say(f"    {death.part} | {line}")
        self._forget_signs_of_life(death.part)

    def _forget_signs_of_life(self, *parts: str) -> bool:
        """So that /healthz names a part at once, not when its last sign of life has faded. False: no Redis."""
        url = self._place.home.redis_url.read_text()
        try:
            with redis.Redis.from_url(
                url, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
            ) as client:
                client.delete(*(names.alive(part) for part in parts))
        except redis.RedisError:
            return False
        return True
