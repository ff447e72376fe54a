"""A ring is written by one process and read by another, with no lock between them."""

import os
import threading
import time
from pathlib import Path

import pytest

from trainer_agent.rank.facts import FactsWriter
from trainer_agent.rank.output import Output
from trainer_agent.rank.progress import Progress
from trainer_agent.rank.ring import RingWriter
from trainer_agent.rank.step_ring import StepRing
from trainer_agent.wire import record, ring_reader
from trainer_agent.wire.environment import PROBE_PID

CAPACITY = 8


def writer(folder: Path, capacity: int = CAPACITY) -> RingWriter:
    return RingWriter(record.ring_path(str(folder), 3, "values"), record.VALUE, capacity, 3)


def put(ring: RingWriter, number: int) -> None:
    ring.put(100.0 + number, number, number, number / 2, 100.0 + number, 7, 0)


def test_a_reader_gets_what_was_written_and_only_what_is_new(tmp_path: Path) -> None:
    ring, reader = writer(tmp_path), ring_reader.value_reader(str(tmp_path), 3)
    for number in range(5):
        put(ring, number)
    first, dropped = reader.read_new(0, limit=3)
    assert [(r.seq, r.step, r.value, r.key) for r in first] == [(1, 0, 0.0, 7), (2, 1, 0.5, 7), (3, 2, 1.0, 7)]
    rest, dropped = reader.read_new(first[-1].seq)
    assert [r.step for r in rest] == [3, 4]
    assert dropped == 0
    assert reader.read_new(rest[-1].seq) == ([], 0)


def test_the_header_says_where_the_writer_stands(tmp_path: Path) -> None:
    reader = ring_reader.value_reader(str(tmp_path), 3)
    assert reader.header() is None
    ring = writer(tmp_path)
    put(ring, 41)
    assert reader.header() == ring_reader.RingHeader(rank=3, pid=os.getpid(), seq=1, time=141.0, step=41)


def test_a_step_whose_fields_are_stored_one_by_one_reads_as_one_that_is_packed(tmp_path: Path) -> None:
    us = [2**32 - 2, 1, 22, 333, 4_444, 55_555, record.MISSING_US, 0]
    packed = RingWriter(record.ring_path(str(tmp_path), 0, "steps"), record.STEP, CAPACITY, 0)
    stored = StepRing(record.ring_path(str(tmp_path), 1, "steps"), CAPACITY, 1)
    for step in range(CAPACITY + 3):
        packed.put(9.5 + step, step, step, 9.5 + step, *us, 2**40 + step, 7, 5)
        stored.put_step(step, 9.5 + step, us, nbytes=2**40 + step, buckets=7, flags=5)
    both = [ring_reader.step_reader(str(tmp_path), rank) for rank in (0, 1)]
    assert both[0].read_new(0) == both[1].read_new(0)
    assert len(both[1].read_new(0)[0]) == CAPACITY
    headers = [reader.header() for reader in both]
    assert [(h.seq, h.time, h.step) for h in headers if h] == [(CAPACITY + 3, 19.5, CAPACITY + 2)] * 2


def test_the_progress_word_is_read_from_outside_in_epoch_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROBE_PID, str(os.getpid()))  # taken back afterwards
    progress = Progress(Output(str(tmp_path), 3))
    phase, since = progress.fields()
    before = time.time()
    phase[0], since[0] = record.NOW.index("backward"), time.perf_counter_ns()
    progress.collective()
    progress.collective()
    progress.waiting(256)
    header = ring_reader.step_reader(str(tmp_path), 3).header()
    assert header is not None
    assert (header.phase, header.collectives, header.ahead) == ("backward", 2, 256)
    assert before - 0.5 <= header.since <= time.time() + 0.5
    since[0] = time.perf_counter_ns() + 10**15  # of a writer with another clock
    header = ring_reader.step_reader(str(tmp_path), 3).header()
    assert header is not None
    assert header.since == 0


def test_records_that_were_overwritten_are_counted_as_dropped(tmp_path: Path) -> None:
    ring, reader = writer(tmp_path), ring_reader.value_reader(str(tmp_path), 3)
    for number in range(CAPACITY * 2 + 3):
        put(ring, number)
    records, dropped = reader.read_new(1)
    assert [r.seq for r in records] == list(range(CAPACITY + 4, CAPACITY * 2 + 4))
    assert dropped == CAPACITY + 2


def test_a_slot_that_is_being_overwritten_is_dropped_and_not_read_torn(tmp_path: Path) -> None:
    ring, reader = writer(tmp_path), ring_reader.value_reader(str(tmp_path), 3)
    for number in range(4):
        put(ring, number)
    with open(record.ring_path(str(tmp_path), 3, "values"), "r+b") as file:
        file.seek(record.HEADER_SIZE + 2 * record.VALUE.size - 8)
        file.write(bytes(8))
    records, dropped = reader.read_new(0)
    assert [r.seq for r in records] == [1, 3, 4]
    assert dropped == 1


def test_a_reader_beside_a_fast_writer_sees_every_record_whole_or_counts_it(tmp_path: Path) -> None:
    ring, reader = writer(tmp_path, capacity=64), ring_reader.value_reader(str(tmp_path), 3)
    total = 20_000

    def write_all() -> None:
        for number in range(total):
            put(ring, number)

    thread = threading.Thread(target=write_all)
    thread.start()
    seq = seen = lost = 0
    while seq < total:
        records, dropped = reader.read_new(seq)
        assert all(r.value == r.step / 2 and r.step == r.seq - 1 and r.time == 100.0 + r.step for r in records)
        seen, lost = seen + len(records), lost + dropped
        seq = records[-1].seq if records else seq + dropped
    thread.join()
    assert seen + lost == total


def test_a_second_process_of_the_rank_replaces_the_ring_and_goes_on_counting(tmp_path: Path) -> None:
    first, reader = writer(tmp_path), ring_reader.value_reader(str(tmp_path), 3)
    for number in range(3):
        put(first, number)
    taken, _ = reader.read_new(0, limit=2)
    second = writer(tmp_path)
    put(second, 50)
    put(first, 99)  # it still lives, but writes into a file that nobody sees
    records, dropped = reader.read_new(taken[-1].seq)
    assert [(r.seq, r.step) for r in records] == [(3, 2), (4, 50)]
    assert dropped == 0


def test_a_ring_that_was_made_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    reader = ring_reader.value_reader(str(tmp_path), 3)
    put(writer(tmp_path), 0)
    records, dropped = reader.read_new(500)
    assert [r.seq for r in records] == [1]
    assert dropped == 0


@pytest.mark.parametrize("content", [b"", b"short", b"\0" * 4096, b"PLRING99" + b"\1" * 4088])
def test_a_file_that_is_no_ring_reads_as_empty_and_is_replaced_by_the_writer(tmp_path: Path, content: bytes) -> None:
    Path(record.ring_path(str(tmp_path), 3, "values")).write_bytes(content)
    reader = ring_reader.value_reader(str(tmp_path), 3)
    assert reader.header() is None
    assert reader.read_new(0) == ([], 0)
    put(writer(tmp_path), 5)
    assert [r.step for r in reader.read_new(0)[0]] == [5]


def test_facts_are_read_once_each_and_key_names_are_kept_apart(tmp_path: Path) -> None:
    facts = FactsWriter(record.ring_path(str(tmp_path), 3, "facts"))
    reader = ring_reader.facts_reader(str(tmp_path), 3)
    facts.write({"facts": {"pid": 1}})
    names = ["loss", 'quote " and \n line', "ключ", "\udcff", ""]
    numbers = [facts.key(name) for name in names]
    assert numbers == [0, 1, 2, 3, 4]
    assert facts.key("loss") == 0
    assert reader.read_new() == [{"facts": {"pid": 1}}]
    assert reader.keys == {0: "loss", 1: 'quote " and \n line', 2: "ключ", 3: "?", 4: ""}
    assert reader.read_new() == []


def test_long_keys_that_differ_at_their_end_stay_two(tmp_path: Path) -> None:
    facts = FactsWriter(record.ring_path(str(tmp_path), 3, "facts"))
    reader = ring_reader.facts_reader(str(tmp_path), 3)
    assert [facts.key("x" * 600 + end) for end in "ab"] == [0, 1]
    reader.read_new()
    assert len(set(reader.keys.values())) == 2
    assert all(len(name) < 500 for name in reader.keys.values())


def test_facts_after_a_half_written_line_are_read_and_key_numbers_go_on(tmp_path: Path) -> None:
    path = record.ring_path(str(tmp_path), 3, "facts")
    FactsWriter(path).key("loss")
    with open(path, "ab") as file:
        file.write(b'{"facts": {"half')
    reader = ring_reader.facts_reader(str(tmp_path), 3)
    assert reader.read_new() == []
    second = FactsWriter(path)
    assert second.key("loss") == 0
    assert second.key("lr") == 1
    assert reader.read_new() == []
    assert reader.keys == {0: "loss", 1: "lr"}
