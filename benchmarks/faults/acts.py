"""Throws one fault at the product, and takes it back when its time is over."""

import contextlib
import errno
import os
import random
import signal
import socket
import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

from benchmarks.faults.attacked import Attacked, send
from benchmarks.faults.schedule import Blow
from trainer_agent.wire import names

GATHER_S = 1.5  # that batches pile up while ingest is stopped
BALLAST = "ballast"


def throw(blow: Blow, attacked: Attacked, over: threading.Event, chance: random.Random) -> None:
    """Do it, hold it for its time or until `over`, undo it."""
    acts: dict[str, Callable[[], None]] = {
        "kill": lambda: send(attacked.pid_of(blow.target), signal.SIGKILL),
        "kill up": lambda: _kill_up(attacked, over, chance),
        "flushall": lambda: _flush(attacked),
        "repeat": lambda: _repeat(attacked, over, chance),
        "late": lambda: _late(attacked, blow.seconds, over, chance),
    }
    held: dict[str, Callable[[], Any]] = {
        "pause": lambda: paused(attacked.pid_of(blow.target)),
        "redis away": lambda: _redis_away(attacked),
        "database locked": lambda: _database_locked(attacked),
        "disk full": lambda: disk_full(attacked.home / "nodes" / blow.target),
    }
    if blow.kind in acts:
        acts[blow.kind]()
        return
    with held[blow.kind]():
        over.wait(blow.seconds)


def _kill_up(attacked: Attacked, over: threading.Event, chance: random.Random) -> None:
    """The parent of all parts and agents; what it left behind ends when it is started again."""
    assert attacked.up is not None
    attacked.up.kill()
    attacked.up.wait()
    over.wait(chance.uniform(0, 3))
    attacked.start()


@contextmanager
def paused(pid: int) -> Iterator[None]:
    """SIGSTOP, and SIGCONT afterwards."""
    send(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        send(pid, signal.SIGCONT)


@contextmanager
def _redis_away(attacked: Attacked) -> Iterator[None]:
    """Killed, and its port taken so that it cannot come back; every connection is reset."""
    port = attacked.redis_port()
    over = threading.Event()
    with _taken(port, lambda: send(attacked.pid_of("redis"), signal.SIGKILL)) as listener:
        refuser = threading.Thread(target=_reset_all, args=(listener, over))
        refuser.start()
        try:
            yield
        finally:
            over.set()
            refuser.join()


def _taken(port: int, kill: Callable[[], None]) -> socket.socket:
    """A socket that listens there. Who has just been started may be quicker, and is killed again."""
    while True:
        kill()
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen()
        except OSError:
            listener.close()
            time.sleep(0.02)
        else:
            listener.settimeout(0.1)
            return listener


def _reset_all(listener: socket.socket, over: threading.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(TimeoutError):
            one, _address = listener.accept()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close by a reset
            one.close()


@contextmanager
def _database_locked(attacked: Attacked) -> Iterator[None]:
    lock = sqlite3.connect(attacked.home / "paceline.sqlite3", timeout=60, isolation_level=None)
    with contextlib.closing(lock):
        lock.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            lock.execute("ROLLBACK")


@contextmanager
def disk_full(disk: Path) -> Iterator[None]:
    """No byte is free; whatever is freed meanwhile is taken too."""
    over = threading.Event()
    ballast = disk / BALLAST
    filler = threading.Thread(target=_keep_full, args=(ballast, over))
    filler.start()
    try:
        yield
    finally:
        over.set()
        filler.join()
        ballast.unlink()


def _keep_full(ballast: Path, over: threading.Event) -> None:
    file = os.open(ballast, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while not over.wait(0.05):
        size = 1 << 20
        while size:
            try:
                os.write(file, bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                size //= 2
    os.close(file)


def _flush(attacked: Attacked) -> None:
    with contextlib.suppress(redis.RedisError):
        attacked.redis().flushall()


def _repeat(attacked: Attacked, over: threading.Event, chance: random.Random) -> None:
    """Batches that ingest has stored come again, twice and in another order."""
    with contextlib.suppress(redis.RedisError):
        batches = _gather(attacked, over, take=False)
        over.wait(1.0)
        _put_back(attacked, batches * 2, chance)


def _late(attacked: Attacked, seconds: float, over: threading.Event, chance: random.Random) -> None:
    """Batches get lost on the way, and come when others have been sent in their place."""
    with contextlib.suppress(redis.RedisError):
        batches = _gather(attacked, over, take=True)
        over.wait(seconds)
        _put_back(attacked, batches, chance)


def _gather(attacked: Attacked, over: threading.Event, *, take: bool) -> list[tuple[bytes, Any]]:
    client = attacked.redis()
    found: list[tuple[bytes, Any]] = []
    with paused(attacked.pid_of("ingest")):
        over.wait(GATHER_S)
        for stream in client.scan_iter(names.telemetry_pattern()):
            entries: Any = client.xrange(stream)
            found += [(stream, fields) for _id, fields in entries]
            if take and entries:
                client.xdel(stream, *(entry_id for entry_id, _fields in entries))
    return found


def _put_back(attacked: Attacked, batches: list[tuple[bytes, Any]], chance: random.Random) -> None:
    client = attacked.redis()
    for stream, fields in chance.sample(batches, len(batches)):
        client.xadd(stream, fields)
