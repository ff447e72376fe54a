"""A node whose disk is full: training goes on, nothing that could be kept is lost, and what could not is counted."""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.agent.node import NODE, REPO, AgentProcess, Server, admit, is_alive, processes_of
from tests.agent.small_disk import SmallDisk, mounted
from tests.agent.test_collecting import batches, outbox, put_step, steps_ring
from tests.waiting import until
from trainer_agent.agent import happenings as h
from trainer_agent.agent import trouble
from trainer_agent.agent.attempts import AttemptRunner
from trainer_agent.agent.commands import Seen
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.outbox import TRY_AGAIN
from trainer_agent.agent.places import Places
from trainer_agent.agent.sample import Sample
from trainer_agent.agent.segment import Segment
from trainer_agent.agent.spool import Spool
from trainer_agent.shim.log_file import LogFile
from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import Batch, Event, Heartbeat, Inventory, StartAttempt

SHIM = REPO / "trainer_agent" / "shim"
RETRY = 4 * TRY_AGAIN


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with mounted(tmp_path / "disk", "4m") as small:
        yield small


def steps_in(found: list[Batch]) -> list[int]:
    return [step for b in found for part in b.steps for step in struct.unpack(f"<{part.n}q", part.step)]


def test_what_the_disk_does_not_take_is_held_and_news_goes_ahead_of_it(tmp_path: Path, disk: SmallDisk):
    ring = steps_ring(tmp_path, capacity=64)
    box = outbox(tmp_path, spool=disk.folder)
    put_step(ring, 0)
    box.flush({})
    disk.fill()
    box.add_samples([Sample("rank/rss", 0, 1.0, float(k)) for k in range(3)])
    while box.trouble is None:  # room was taken ahead
        put_step(ring, ring.seq)
        box.flush({})
    assert trouble.sentence([box.trouble]).startswith("No space is left on the node's disk")
    taken = ring.seq
    for _ in range(100):
        put_step(ring, ring.seq)
    box.add_event(Event(kind="rank_exited", at=1.0, rank=0, data={"code": 3}))
    box.add_samples([Sample("rank/rss", 0, 1.0, 5.0)] * 7)
    assert not box.flush({"exited": [0]})
    assert [event.kind for event in batches(box)[-1].events] == ["rank_exited"]
    assert box.spool.cursor()["exited"] == [0]
    assert box.counts[0].made == ring.seq

    disk.free()
    until(lambda: box.flush({}) or box.is_empty, RETRY)
    assert trouble.sentence([box.trouble]) == ""
    told = batches(box)
    assert [b.seq for b in told] == list(range(1, len(told) + 1))
    lost = [e.data for b in told for e in b.events if e.kind == "dropped"]
    gap = {"what": "steps", "count": 36, "reason": "disk_full", "first": taken, "last": taken + 35}
    assert lost == [gap, {"what": "samples", "count": 7, "reason": "disk_full"}]
    assert steps_in(told) == [step for step in range(ring.seq) if not taken <= step < taken + 36]
    until(lambda: not box.flush({}), RETRY)
    assert (box.counts[0].made, box.counts[0].taken) == (ring.seq, ring.seq - 36)


def test_an_agent_that_dies_on_a_full_disk_reads_again_what_it_only_held(tmp_path: Path, disk: SmallDisk):
    ring = steps_ring(tmp_path, capacity=64)
    box = outbox(tmp_path, spool=disk.folder)
    put_step(ring, 0)
    box.flush({})
    disk.fill()
    while box.trouble is None:
        put_step(ring, ring.seq)
        box.flush({})
    box.add_event(Event(kind="stopping", at=1.0, data={}))
    box.flush({})
    box.close()
    disk.free()
    again = outbox(tmp_path, spool=disk.folder)
    again.flush({})
    assert steps_in(batches(again)) == list(range(ring.seq))
    assert [e.kind for b in batches(again) for e in b.events] == ["stopping"]


def test_a_write_that_fails_half_way_leaves_nothing_behind(tmp_path: Path, disk: SmallDisk, monkeypatch):
    spool = Spool(disk.folder / "spool")
    spool.append(1, b"one", {})
    monkeypatch.setattr(Segment, "_make_room", lambda *_: None)  # as on a file system that takes no room ahead
    disk.fill()
    with pytest.raises(OSError, match="No space left"):
        spool.append(2, os.urandom(600_000), {"a": 1})
    disk.free()
    spool.append(2, b"two", {"a": 2})
    assert spool.read(0, 10) == [(1, b"one"), (2, b"two")]
    assert Spool(disk.folder / "spool").cursor() == {"a": 2}


def test_bytes_that_the_disk_failed_to_sync_are_written_again(tmp_path: Path, monkeypatch):
    spool = Spool(tmp_path)
    spool.append(1, b"one", {})
    answers = iter([OSError(5, "Input/output error"), None])
    written: list[bytes] = []
    pwrite = os.pwrite

    def fdatasync(_file: int) -> None:
        answer = next(answers)
        if answer:
            raise answer

    monkeypatch.setattr(os, "fdatasync", fdatasync)
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: written.append(data) or pwrite(file, data, at))
    with pytest.raises(OSError, match="Input/output"):
        spool.read(0, 1)
    assert spool.read(0, 1) == [(1, b"one")]
    assert b"one" in written[0]


def test_a_command_done_on_a_full_disk_is_written_down_later(disk: SmallDisk):
    seen = Seen(disk.folder / "commands.json")
    disk.fill()
    seen.add(7)
    assert 7 in seen
    assert seen.trouble is not None
    disk.free()
    seen.save()
    assert 7 in Seen(disk.folder / "commands.json")


def test_a_log_says_what_a_full_disk_cost_it(disk: SmallDisk):
    log = LogFile(str(disk.folder / "rank0.log"))
    log.append(b"before\nin a li")
    disk.fill()
    log.append(b"ne\n" + b"x" * 5000 + b"\nlost\n")
    kept = (disk.folder / "rank0.log").read_bytes()
    disk.free()
    until(lambda: log.append(b"after\n") or b"after" in (disk.folder / "rank0.log").read_bytes())
    text = (disk.folder / "rank0.log").read_text()
    marker = text[len(kept) :].lstrip("\n").splitlines()[0]
    assert marker.startswith("[paceline: ")
    assert marker.endswith(" bytes) could not be kept: the disk was full]")
    assert int(marker.split("(")[1].split()[0]) == log.lost >= 5008 - (len(kept) - 14)
    assert text.endswith("after\n")


def entry(folder: Path, code: str) -> "subprocess.Popen[bytes]":
    (folder / "ranks").mkdir(exist_ok=True)
    env = {**os.environ, "RANK": "0", "PACELINE_RANK_DIR": str(folder / "ranks")}
    return subprocess.Popen([sys.executable, str(SHIM / "rank_entry.py"), "python", "-c", code], env=env)


def test_printing_on_a_full_disk_does_not_end_a_rank_and_its_own_exit_code_is_recorded(disk: SmallDisk):
    code = (
        "import os, sys\n"
        "for i in range(20_000): print('x' * 500, i)\n"
        "os.write(2, b'the end'); sys.exit(7 if 'x' else 0)\n"
    )
    assert entry(disk.folder, code).wait(60) == 7
    assert disk.is_full
    exited = json.loads((disk.folder / "ranks/rank0.exited.json").read_text())
    size = (disk.folder / "ranks/rank0.log").stat().st_size
    assert exited["code"] == 7
    assert exited["log_lost"] + size == sum(len(f"{'x' * 500} {i}\n") for i in range(20_000)) + len("the end")


def test_a_stop_gets_through_a_full_disk_and_its_end_is_recorded(disk: SmallDisk):
    plan: dict[str, Any] = {"argv": ["sleep", "300"], "cwd": "/", "mark": f"n/{os.getpid()}", "signal": "SIGTERM"}
    (disk.folder / "plan.json").write_text(json.dumps({**plan, "grace": 0.1, "timeout": None, "env": {**os.environ}}))
    subprocess.run([sys.executable, "-I", str(SHIM / "shim.py"), str(disk.folder)], timeout=30, check=True)
    shim = json.loads((disk.folder / "shim.json").read_text())
    disk.fill()
    os.kill(shim["pid"], signal.SIGTERM)
    until((disk.folder / "exit.json").exists, 30)
    assert json.loads((disk.folder / "exit.json").read_text())["reason"] == "shim_signalled"
    assert not is_alive(shim["launcher"])


def test_a_start_on_a_full_disk_is_refused_with_its_reason(disk: SmallDisk):
    inventory = Inventory(hostname="h", address="127.0.0.1", slots=[])
    identity = Identity(node=NODE, name=NODE, token="", redis_url="", url="", python=sys.executable)
    runner = AttemptRunner(
        7, None, identity=identity, places=Places(disk.folder, NODE), inventory=inventory, post=lambda *_: None
    )
    runner.handle(h.Start(start_command(id=1)))
    until(lambda: runner.tick() or runner.spool.last_seq > 0)
    disk.fill()
    runner.handle(h.Start(start_command(id=2)))  # another port, say
    runner.tick()
    told = [e for _, body in runner.spool.read(0, 10) for e in codec.decode_batch(body).events]
    assert [e.kind for e in told] == ["accepted", "accepted", "refused", "finished"]
    assert told[2].data["detail"] == "The node could not prepare it. No space is left on the node's disk."


def start_command(**fields: Any) -> StartAttempt:
    defaults = {"v": 1, "attempt": 7, "run": "r-7", "attempt_number": 1, "node_rank": 0, "nnodes": 1}
    rest = {"ranks_per_node": 1, "master_addr": "127.0.0.1", "master_port": 1, "argv": ["true"]}
    return StartAttempt(**{**defaults, **rest, **fields})


@pytest.mark.torch
def test_a_run_lives_through_a_full_disk_and_all_that_it_cost_is_told(
    tmp_path: Path, redis_client: redis.Redis, redis_server: str
):
    with mounted(tmp_path / "node", "4m") as disk:
        admit(redis_client, redis_server, disk.folder)
        agent, server = AgentProcess(disk.folder), Server(redis_client, random.randrange(10**6, 10**9))
        try:
            agent.start()
            server.start("trains_and_prints.py", str(tmp_path / "end"), ranks_per_node=1)
            server.wait_for(lambda: len(steps_in(server.batches)) > 20)
            disk.fill()
            server.wait_for(lambda: heartbeat(redis_client).trouble)
            made = heartbeat(redis_client).attempts[0].made[0]
            server.wait_for(lambda: heartbeat(redis_client).attempts[0].made[0] > made + 1500)
            disk.free()
            server.wait_for(lambda: steps_in(server.batches)[-1] > made + 1500)
            server.wait_for(lambda: not heartbeat(redis_client).trouble)
            (tmp_path / "end").touch()
            server.wait_for_event("finished")
        finally:
            end_all(agent, server)
    counted = server.event("counted", 0).data
    assert server.event("rank_exited", 0).data["code"] == 0
    assert f"made {counted['made']}\n".encode() == server.log(0).splitlines(keepends=True)[-1]
    gaps = [e.data for e in server.events if e.kind == "dropped" and e.data["what"] == "steps"]
    assert {gap["reason"] for gap in gaps} == {"disk_full"}
    lost = {step for gap in gaps for step in range(gap["first"], gap["last"] + 1)}
    stored = steps_in(server.batches)
    assert sorted([*stored, *lost]) == list(range(counted["made"]))
    assert counted["taken"] == len(stored)
    not_printed = sum(e.data["count"] for e in server.events if e.kind == "dropped" and e.data["what"] == "log bytes")
    kept = b"".join(line for line in server.log(0).splitlines(keepends=True) if b"[paceline: " not in line)
    whole = sum(len(f"step {k} " + "x" * 200 + "\n") for k in range(counted["made"])) + len(f"made {counted['made']}\n")
    assert not_printed > 0
    assert abs(len(kept) + not_printed - whole) <= 2  # a line of ours in the middle of a line adds its own end


def heartbeat(client: redis.Redis) -> Heartbeat:
    return codec.decode_heartbeat(client.get(names.heartbeat(NODE)) or b"")  # type: ignore[arg-type]


def end_all(agent: AgentProcess, server: Server) -> None:
    agent.end(signal.SIGKILL)
    for pid in processes_of(NODE, server.attempt):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(f"/dev/shm/paceline/{NODE}-{server.attempt}", ignore_errors=True)
