"""Sends what an importer reads, a numbered message at a time, until the server's database has all of it."""

import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trainer_agent.cli.errors import NotReached, Refused
from trainer_agent.cli.server import Server
from trainer_agent.wire import codec
from trainer_agent.wire.messages import WIRE_VERSION, Batch, Event, ValueColumns

POINTS = 50_000  # of one message
_UNDER_WAY = 8  # messages
_LOOK_EVERY, _AGAIN_AFTER, _PATIENCE = 0.2, 5.0, 300.0  # seconds


@dataclass(frozen=True, slots=True)
class Point:
    """One number that the other tool has logged. `time`: epoch seconds."""

    key: str
    step: int
    time: float
    value: float


@dataclass
class Run:
    """One run of the other tool; `source` stays the same wherever its files lie. Times are epoch seconds."""

    kind: str
    source: str
    name: str
    started_at: float | None = None
    ended_at: float | None = None
    outcome: str = "succeeded"
    config: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)


class Sending:
    """One run under way. `cursor`: how far what the server has was read."""

    def __init__(self, server: Server, project: str, run: Run, *, live: bool = False) -> None:
        body = {**vars(run), "project": project, "live": live}
        body |= {name: None if (at := body[name]) is None else _iso(at) for name in ("started_at", "ended_at")}
        found = server.post("/imports", body)
        self.run, self.url, self.cursor = str(found["run"]), str(found["url"]), dict(found["cursor"])
        self.points = 0
        self._server, self._attempt, self._node = server, found["attempt"], found["node"]
        self._stored = self._last = int(found["seq"])
        self._waiting: dict[int, bytes] = {}

    def send(self, points: list[Point], cursor: dict[str, Any], config: dict[str, str] | None = None) -> None:
        """One message: these points, after which the importer has read up to `cursor`."""
        self._last += 1
        told = {"cursor": cursor, **({"config": config} if config else {})}
        batch = Batch(
            v=WIRE_VERSION,
            attempt=self._attempt,
            node=self._node,
            seq=self._last,
            sent_at=time.time(),
            events=[Event(kind="imported", at=time.time(), data=told)],
            values=columns(points),
        )
        self._waiting[self._last] = codec.encode(batch)
        self.points += len(points)
        self._post(self._last)
        self._wait(self._last - _UNDER_WAY)

    def finish(self) -> None:
        """Wait until all of it is stored."""
        self._wait(self._last)

    def alive(self) -> None:
        """Nothing is new, but the run is still followed."""
        self._note(self._server.get(f"/imports/{self.run}")["seq"])

    def end(self, at: float) -> None:
        """The run is followed no more."""
        self._server.post(f"/imports/{self.run}/end", {"ended_at": _iso(at)})

    def _wait(self, seq: int) -> None:
        sent = began = time.monotonic()
        while self._stored < seq:
            time.sleep(_LOOK_EVERY)
            now = time.monotonic()
            if now - began > _PATIENCE:
                raise Refused("The server takes what is sent but does not store it. Is its ingest running?")
            try:
                self.alive()
                if now - sent > _AGAIN_AFTER:
                    sent = now
                    for again in list(self._waiting):
                        self._post(again)
            except NotReached:
                continue

    def _post(self, seq: int) -> None:
        try:
            answer = self._server.send_file(
                f"/imports/{self.run}/batches", self._waiting[seq], "application/octet-stream"
            )
        except NotReached:  # it is sent again
            return
        self._note(answer["seq"])

    def _note(self, stored: int) -> None:
        self._stored = max(self._stored, int(stored))
        self._waiting = {seq: body for seq, body in self._waiting.items() if seq > self._stored}


def columns(points: Iterable[Point]) -> list[ValueColumns]:
    """One message part per key."""
    by_key: dict[str, list[Point]] = {}
    for point in points:
        by_key.setdefault(point.key, []).append(point)
    return [
        ValueColumns(
            key=key,
            n=len(some),
            rank=bytes(4 * len(some)),
            step=struct.pack(f"<{len(some)}q", *(point.step for point in some)),
            time=struct.pack(f"<{len(some)}d", *(point.time for point in some)),
            value=struct.pack(f"<{len(some)}d", *(point.value for point in some)),
        )
        for key, some in by_key.items()
    ]


def _iso(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1e6):06d}Z"
