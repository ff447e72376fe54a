"""Rings, facts, logs and samples into batches, and on at the right place after a restart."""

import json
import math
import os
import struct
from pathlib import Path

from trainer_agent.agent.collect import Collector
from trainer_agent.agent.outbox import LOGS_UNTIL, Outbox
from trainer_agent.agent.sample import Sample
from trainer_agent.agent.spool import Spool
from trainer_agent.agent.tail import CHUNK, LogTail
from trainer_agent.rank.ring import RingWriter
from trainer_agent.wire import codec, record
from trainer_agent.wire.messages import Batch


def steps_ring(folder: Path, rank: int = 0, capacity: int = 16) -> RingWriter:
    return RingWriter(record.ring_path(str(folder), rank, "steps"), record.STEP, capacity, rank)


def put_step(ring: RingWriter, step: int) -> None:
    us = (100, 10, 20, 30, 5, 5, 30, record.MISSING_US)
    ring.put(1.0, step, step, 1000.0 + step, *us, 4096, 2, record.FLAG_COMM_MEASURED)


def outbox(folder: Path, limit: int = 10**9, spool: Path | None = None, **sizes: int) -> Outbox:
    return outbox_of(Spool((spool or folder) / "spool", limit, **sizes), folder)


def outbox_of(spool: Spool, folder: Path) -> Outbox:
    cursor = spool.cursor()
    ranks = range(2)
    collector = Collector(str(folder), ranks, cursor.get("rings", {}))
    return Outbox(7, "n", spool, collector, LogTail(folder, ranks, cursor.get("logs", {})))


def batches(box: Outbox) -> list[Batch]:
    return [codec.decode_batch(body) for _, body in box.spool.read(0, 1000)]


def test_steps_of_all_ranks_come_in_one_message_and_missing_stays_missing(tmp_path: Path):
    for rank in (0, 1):
        ring = steps_ring(tmp_path, rank)
        for step in range(3):
            put_step(ring, step)
    box = outbox(tmp_path)
    box.flush({})
    (columns,) = batches(box)[0].steps
    assert columns.n == 6
    assert struct.unpack("<6I", columns.rank) == (0, 0, 0, 1, 1, 1)
    assert struct.unpack("<6q", columns.step) == (0, 1, 2, 0, 1, 2)
    assert struct.unpack("<6I", columns.columns["phase/step"]) == (100,) * 6
    assert struct.unpack("<6I", columns.columns["comm/total"]) == (record.MISSING_US,) * 6


def test_a_restarted_agent_reads_on_without_a_double_or_a_gap(tmp_path: Path):
    ring = steps_ring(tmp_path)
    (tmp_path / "ranks").mkdir()
    log = tmp_path / "ranks" / "rank0.log"
    put_step(ring, 0)
    log.write_bytes(b"first\n")
    (tmp_path / "rank0.facts").write_text(json.dumps({"facts": {"total_steps": 9}}) + "\n")
    box = outbox(tmp_path)
    box.flush({})
    box.close()

    put_step(ring, 1)
    with log.open("ab") as file:
        file.write(b"second\n")
    again = outbox(tmp_path)
    again.flush({})
    again.flush({})
    all_of_them = batches(again)
    assert [b.seq for b in all_of_them] == [1, 2]
    assert [struct.unpack("<q", b.steps[0].step)[0] for b in all_of_them] == [0, 1]
    assert [(b.logs[0].offset, b.logs[0].data) for b in all_of_them] == [(0, b"first\n"), (6, b"second\n")]
    assert [e.kind for b in all_of_them for e in b.events] == ["rank_facts"]


def test_steps_that_were_overwritten_before_we_came_are_counted(tmp_path: Path):
    ring = steps_ring(tmp_path, capacity=4)
    for step in range(10):
        put_step(ring, step)
    box = outbox(tmp_path)
    box.flush({})
    event = batches(box)[0].events[0]
    assert (event.kind, event.rank, event.data) == (
        "dropped",
        0,
        {"what": "steps", "count": 6, "reason": "overwritten", "first": 0, "last": 5},
    )
    assert batches(box)[0].steps[0].n == 4


def test_a_ranks_own_facts_are_told_flat_and_its_losses_are_told_once(tmp_path: Path):
    facts = tmp_path / "rank1.facts"
    lines = [{"facts": {"total_steps": 9, "dropped": {"late": late, "steps": 0}}} for late in (0, 2, 5)]
    facts.write_text("".join(json.dumps(line) + "\n" for line in lines[:2]))
    box = outbox(tmp_path)
    box.flush({})
    box.close()
    with facts.open("a") as file:
        file.write(json.dumps(lines[2]) + "\n")
    again = outbox(tmp_path)
    again.flush({})
    events = [event for batch in batches(again) for event in batch.events]
    assert [e.data["total_steps"] for e in events if e.kind == "rank_facts"] == [9, 9, 9]
    lost = [(e.rank, e.data["what"], e.data["count"], e.data["reason"]) for e in events if e.kind == "dropped"]
    assert lost == [(1, "values", 2, "late"), (1, "values", 3, "late")]


def test_values_carry_their_names_and_a_nan_stays_a_nan(tmp_path: Path):
    ring = RingWriter(record.ring_path(str(tmp_path), 0, "values"), record.VALUE, 16, 0)
    ring.put(1.0, 5, 5, math.nan, 1.0, 3, 0)
    ring.put(1.0, 6, 6, 0.5, 2.0, 3, 0)
    (tmp_path / "rank0.facts").write_text(json.dumps({"key": 3, "name": "loss/träin"}) + "\n")
    box = outbox(tmp_path)
    box.flush({})
    (values,) = batches(box)[0].values
    assert values.key == "loss/träin"
    assert math.isnan(struct.unpack("<2d", values.value)[0])
    assert struct.unpack("<2q", values.step) == (5, 6)


def test_a_long_line_comes_in_chunks_that_fit_together(tmp_path: Path):
    (tmp_path / "ranks").mkdir()
    said = bytes(range(256)) * 4096
    (tmp_path / "ranks" / "rank1.log").write_bytes(said)
    box = outbox(tmp_path)
    assert box.drain({})
    parts = [part for b in batches(box) for part in b.logs]
    assert all(len(part.data) <= CHUNK for part in parts)
    assert b"".join(part.data for part in parts) == said


def test_a_full_spool_drops_samples_first_counts_them_and_leaves_the_rest_where_it_is(tmp_path: Path):
    (tmp_path / "ranks").mkdir()
    (tmp_path / "ranks" / "rank0.log").write_bytes(b"x" * 200)
    box = outbox(tmp_path, limit=100)
    box.flush({})
    assert box.spool.is_full
    put_step(steps_ring(tmp_path), 0)
    box.add_samples([Sample("rank/rss", 0, 1.0, 5.0)] * 3)
    box.flush({})
    assert box.spool.last_seq == 1
    assert not box.drain({})

    box.close()
    roomy = outbox(tmp_path)
    roomy.add_samples([Sample("rank/rss", 0, 1.0, 5.0)])
    roomy.flush({})
    assert batches(roomy)[-1].steps[0].n == 1
    assert batches(roomy)[-1].samples[0].metric == "rank/rss"


def test_a_spool_that_fills_up_gives_up_samples_then_logs_and_step_records_last(tmp_path: Path):
    (tmp_path / "ranks").mkdir()
    log = tmp_path / "ranks" / "rank0.log"
    log.write_bytes(os.urandom(3_550))
    ring = steps_ring(tmp_path)
    box = outbox(tmp_path, limit=4_000)
    box.flush({})
    assert box.spool.has_room(1.0)
    assert not box.spool.has_room(LOGS_UNTIL)
    with log.open("ab") as file:
        file.write(b"more")
    put_step(ring, 0)
    box.add_samples([Sample("rank/rss", 0, 1.0, 5.0)] * 3)
    box.flush({})
    told = batches(box)[-1]
    assert (told.logs, told.samples) == ([], [])
    assert told.steps[0].n == 1
    assert [e.data for e in told.events] == [{"what": "samples", "count": 3, "reason": "spool_full"}]
    box.close()
    roomy = outbox(tmp_path)
    roomy.flush({})
    assert [part.data for part in batches(roomy)[-1].logs] == [b"more"]
