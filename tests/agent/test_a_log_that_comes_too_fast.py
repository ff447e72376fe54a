"""What is sent of a log is limited; what is left out is counted by lines, and the node's file has all of it."""

import json
import time
import tracemalloc
from pathlib import Path

from tests.agent.test_a_full_disk import entry
from tests.agent.test_collecting import batches, outbox
from tests.waiting import until
from trainer_agent.agent.tail import BURST, CHUNK, PIECE, RATE, LogTail
from trainer_agent.wire.messages import LogBytes


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def everything(tail: LogTail) -> list[LogBytes]:
    found: list[LogBytes] = []
    while pieces := tail.take(0.0):
        found += pieces
    return found


def holes(pieces: list[LogBytes], log: bytes) -> list[int]:
    """Lines left out, hole by hole; every byte that was sent is the log's own."""
    at, found = 0, []
    for piece in pieces:
        assert log[piece.offset : piece.offset + len(piece.data)] == piece.data
        if piece.offset > at:
            assert log[at - 1 : at] == log[piece.offset - 1 : piece.offset] == b"\n"
            assert log[at : piece.offset].count(b"\n") == piece.skipped_lines
            found.append(piece.skipped_lines)
        else:
            assert piece.skipped_lines == 0
        at = piece.offset + len(piece.data)
    return found


def test_a_burst_goes_whole_and_then_a_steady_rate_with_whole_lines_left_out(tmp_path: Path):
    (tmp_path / "ranks").mkdir()
    line = b"%099d\n"
    log = b"".join(line % k for k in range((BURST + 12 * PIECE) // 100))
    (tmp_path / "ranks/rank0.log").write_bytes(log)
    clock = Hand()
    tail = LogTail(tmp_path, range(1), {}, clock)
    sent = everything(tail)
    assert BURST - CHUNK < sum(len(p.data) for p in sent) <= BURST
    assert holes(sent, log) == []
    assert not tail.is_at_the_end
    clock.now += PIECE / RATE
    sent += everything(tail)
    assert len(holes(sent, log)) == 1
    assert sum(len(p.data) for p in sent) <= BURST + PIECE + RATE
    assert tail.is_at_the_end


def test_the_last_words_come_after_the_hole_and_a_slow_log_is_never_cut(tmp_path: Path):
    (tmp_path / "ranks").mkdir()
    path = tmp_path / "ranks/rank0.log"
    clock = Hand()
    tail = LogTail(tmp_path, range(1), {}, clock)
    log = b""
    sent: list[LogBytes] = []
    for second in range(40):
        log += b"%d of a slow log\n" % second * 60_000  # 1 MB a second: below the rate
        with path.open("ab") as file:
            file.write(log[path.stat().st_size :])
        clock.now += 1.0
        sent += everything(tail)
    assert holes(sent, log) == []
    path.write_bytes(log + bytes(BURST) + b"\nTraceback\nthe last words\n")
    for _ in range(3):
        clock.now += 1.0
        sent += everything(tail)
    assert sent[-1].data.endswith(b"\nTraceback\nthe last words\n")


def test_a_restart_in_a_hole_reads_on_after_the_last_byte_that_was_sent(tmp_path: Path):
    (tmp_path / "ranks").mkdir()
    log = b"a line\n" * ((BURST + 3 * PIECE) // 7)
    (tmp_path / "ranks/rank0.log").write_bytes(log)
    clock = Hand()
    tail = LogTail(tmp_path, range(1), {}, clock)
    before = everything(tail)
    offsets = dict(tail.offsets)
    clock.now += 1.0
    tail.take(0.0)
    again = LogTail(tmp_path, range(1), offsets, clock)
    assert sum(holes(before + everything(again), log)) == 0
    assert again.is_at_the_end


def test_a_rank_that_prints_fifty_megabytes_a_second_costs_the_agent_little_and_its_file_is_whole(tmp_path: Path):
    code = (
        "import os, time\n"
        "block = b''.join(b'%0127d\\n' % k for k in range(4096))\n"
        "began = time.monotonic()\n"
        "for k in range(240):\n"
        "    os.write(1, block)\n"
        "    time.sleep(max(0, began + k / 100 - time.monotonic()))\n"
        "os.write(2, b'the last words\\n')\n"
    )
    tracemalloc.start()
    rank = entry(tmp_path, code)
    box = outbox(tmp_path)
    slowest = 0.0
    while rank.poll() is None:
        began = time.monotonic()
        box.flush({})
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.1)
    assert rank.wait() == 0
    assert until(lambda: box.drain({}), 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24 * 1024 * 1024
    log = (tmp_path / "ranks/rank0.log").read_bytes()
    assert len(log) == 240 * 4096 * 128 + len(b"the last words\n")
    assert json.loads((tmp_path / "ranks/rank0.exited.json").read_text())["log_lost"] == 0
    pieces = [part for b in batches(box) for part in b.logs]
    assert sum(holes(pieces, log)) > 0
    assert pieces[-1].data.endswith(b"the last words\n")
    assert sum(len(p.data) for p in pieces) < BURST + 20 * RATE
    assert slowest < 5.0
