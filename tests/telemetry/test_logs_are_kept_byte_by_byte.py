import time
from datetime import UTC, datetime

import pytest

from tests import builders
from webapp.telemetry import logs
from webapp.telemetry.models import LogChunk

pytestmark = pytest.mark.django_db


class Writer:
    """Writes a rank's log as ingest does."""

    def __init__(self, attempt) -> None:
        self.attempt = attempt
        self.ends: dict[int, int] = {}
        self.skipped: dict[int, int] = {}
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def write(self, rank: int, data: bytes) -> None:
        offset, skipped = self.ends.get(rank, 0), self.skipped.pop(rank, 0)
        LogChunk.objects.bulk_create(logs.chunks_of(self.attempt, rank, offset, data, self.at, skipped_lines=skipped))
        self.ends[rank] = offset + len(data)

    def leave_out(self, rank: int, lines: int, size: int) -> None:
        self.ends[rank] = self.ends.get(rank, 0) + size
        self.skipped[rank] = lines


@pytest.fixture
def writer():
    return Writer(builders.running_attempt())


def texts(found) -> list[str]:
    return [line["text"] for line in found["lines"]]


def test_raw_bytes_come_back_as_they_were(writer):
    data = bytes(range(256)) * 700 + b"\xff\xfe\r\n no end"
    for k in range(0, len(data), 50_000):
        writer.write(2, data[k : k + 50_000])
    assert b"".join(logs.raw(writer.attempt, 2)) == data


def test_a_line_of_ten_megabytes_is_cut_on_the_page_only(writer):
    data = b"x" * 10 * 1024 * 1024 + b"\nnext\n"
    for k in range(0, len(data), 256 * 1024):
        writer.write(0, data[k : k + 256 * 1024])
    found = logs.lines(writer.attempt)
    assert texts(found) == ["x" * 4_000 + "… 10,485,760 bytes, in the raw log", "next"]
    assert b"".join(logs.raw(writer.attempt, 0)) == data


def test_a_line_in_pieces_is_one_line_in_the_page_where_it_ends(writer):
    writer.write(0, b"first\nsec")
    page = logs.lines(writer.attempt)
    writer.write(0, b"on")
    writer.write(0, b"d\nthird\n")
    assert texts(page) == ["first"]
    assert texts(logs.lines(writer.attempt, after=page["after"])) == ["second", "third"]


def test_bytes_that_are_no_text_colours_and_progress_bars_are_shown_readably(writer):
    writer.write(0, b"bad \xff byte\n\x1b[31mred\x1b[0m \x1b]0;title\x07text\r\n 10%\r 50%\r100%\n")
    assert texts(logs.lines(writer.attempt)) == ["bad � byte", "red text", "100%"]


def test_equal_lines_of_ranks_are_one_entry_and_the_odd_one_stands_alone(writer):
    for rank in range(4):
        odd = b"rank 2 lost its GPU\n" if rank == 2 else b""
        writer.write(rank, b"epoch %d loss 0.%d\n" % (1, rank) + odd)
    first, second = logs.lines(writer.attempt)["lines"]
    assert (first["ranks"], first["count"], first["text"]) == ([0, 1, 2, 3], 4, "epoch 1 loss 0.0")
    assert first["lines"][3] == [3, "epoch 1 loss 0.3"]
    assert (second["ranks"], second["count"]) == ([2], 1)


def test_a_rank_that_repeats_itself_is_not_folded(writer):
    writer.write(0, b"step 1\nstep 2\nstep 3\n")
    writer.write(1, b"step 1\nstep 2\nstep 3\n")
    entries = logs.lines(writer.attempt)["lines"]
    assert [(entry["text"], entry["ranks"]) for entry in entries] == [
        ("step 1", [0, 1]),
        ("step 2", [0, 1]),
        ("step 3", [0, 1]),
    ]


def test_the_lines_of_a_rank_keep_their_order_when_the_ranks_are_not_level(writer):
    writer.write(1, b"step 1\nstep 2\nstep 3\n")
    writer.write(0, b"step 3\nstep 4\n")
    writer.write(1, b"step 4\n")
    writer.write(0, b"step 5\nother\nstep 6\n")
    writer.write(1, b"other\nstep 5\n")
    entries = logs.lines(writer.attempt)["lines"]
    assert [(entry["text"], entry["ranks"]) for entry in entries] == [
        ("step 1", [1]),
        ("step 2", [1]),
        ("step 3", [0, 1]),
        ("step 4", [0, 1]),
        ("step 5", [0]),
        ("other", [0, 1]),
        ("step 6", [0, 1]),
    ]


def test_one_rank_or_the_launchers_can_be_read_alone(writer):
    for rank in (0, 3, logs.launcher(0), logs.launcher(1)):
        writer.write(rank, b"this is %d\n" % rank)
    assert texts(logs.lines(writer.attempt, rank=3)) == ["this is 3"]
    assert texts(logs.lines(writer.attempt, rank=-1)) == ["this is -1"]
    assert logs.lines(writer.attempt, rank=-1)["lines"][0]["count"] == 2


def test_pages_go_back_without_gap_or_overlap(writer):
    for k in range(40):
        words = (bytes(97 + int(digit) for digit in str(k * 10 + n)) for n in range(10))
        writer.write(k % 2, b"".join(word + b" line\n" for word in words))
    seen: list[str] = []
    page = logs.lines(writer.attempt, limit=50)
    while True:
        seen = texts(page) + seen
        if page["before"] is None:
            break
        page = logs.lines(writer.attempt, before=page["before"], limit=50)
    assert len(seen) == len(set(seen)) == 400


def test_following_reads_only_what_came_since(writer):
    writer.write(0, b"a\n")
    page = logs.lines(writer.attempt)
    assert texts(logs.lines(writer.attempt, after=page["after"])) == []
    writer.write(1, b"b\n")
    assert texts(logs.lines(writer.attempt, after=page["after"])) == ["b"]


def test_text_and_patterns_are_found_in_old_chunks(writer):
    writer.write(0, b"needle 42\n")
    for _k in range(30):
        writer.write(1, b"hay\n" * 100)
    assert texts(logs.lines(writer.attempt, query="NEEDLE")) == ["needle 42"]
    assert texts(logs.lines(writer.attempt, query=r"/^needle \d+$/")) == ["needle 42"]
    assert logs.lines(writer.attempt, query="/(/")["error"].startswith("This pattern cannot be read")


def test_a_pattern_that_explodes_is_ended(writer):
    writer.write(0, b"a" * 3_000 + b"!\n")
    began = time.monotonic()
    assert "too long" in logs.lines(writer.attempt, query="/(a+)+$/")["error"]
    assert time.monotonic() - began < 10


def test_errors_and_warnings_have_their_level(writer):
    writer.write(0, b"ValueError: no\nUserWarning: hm\nall fine\n")
    assert [line["level"] for line in logs.lines(writer.attempt)["lines"]] == ["err", "warn", ""]


def test_the_last_words_of_a_rank_that_ended_are_shown(writer):
    writer.write(0, b"Killed")
    assert texts(logs.lines(writer.attempt)) == []
    writer.attempt.ranks.filter(rank=0).update(exited_at=writer.at)
    assert texts(logs.lines(writer.attempt)) == ["Killed"]


def test_what_a_node_left_out_is_one_line_in_its_place(writer):
    writer.write(0, b"one\ntwo\n")
    writer.leave_out(0, lines=1_200, size=48_000)
    writer.write(0, b"after\nlast")
    path = f"attempts/{writer.attempt.pk}/ranks/rank0.log"
    node = writer.attempt.parts.get(node_rank=0).node_name
    where = f"the whole log is on {node}, in {path} of its agent's folder]"
    said = f"[paceline: 1,200 lines (48,000 bytes) were skipped here; {where}\n".encode()
    assert b"".join(logs.raw(writer.attempt, 0)) == b"one\ntwo\n" + said + b"after\nlast"
    assert logs.sizes(writer.attempt) == {0: len(b"one\ntwo\n" + said + b"after\nlast")}
    found = logs.lines(writer.attempt)["lines"]
    assert [(line["kind"], line["text"]) for line in found] == [
        ("", "one"),
        ("", "two"),
        ("skipped", f"[paceline: 1,200 lines were skipped here; {where}"),
        ("", "after"),
    ]


def test_a_line_begun_before_a_hole_is_not_joined_to_what_comes_after(writer):
    writer.write(0, b"begun")
    page = logs.lines(writer.attempt)
    writer.leave_out(0, lines=3, size=90)
    writer.write(0, b"fresh\n")
    assert texts(logs.lines(writer.attempt, after=page["after"]))[-1] == "fresh"
