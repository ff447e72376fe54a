import os
from pathlib import Path

import pytest

from trainer_agent.agent.spool import Spool


def filled(folder: Path, count: int, **sizes: int) -> Spool:
    spool = Spool(folder, **sizes)
    for seq in range(1, count + 1):
        spool.append(seq, b"batch %d" % seq, {"logs": {0: seq * 10}})
    return spool


def test_what_was_appended_is_read_back_in_order_also_after_a_restart(tmp_path: Path):
    filled(tmp_path, 5).close()
    again = Spool(tmp_path)
    assert again.read(2, limit=10) == [(3, b"batch 3"), (4, b"batch 4"), (5, b"batch 5")]
    assert again.read(0, limit=2) == [(1, b"batch 1"), (2, b"batch 2")]
    assert again.cursor() == {"logs": {0: 50}}
    assert again.last_seq == 5


@pytest.mark.parametrize("torn", [1, 7, 30])
def test_a_torn_last_record_is_cut_off_and_its_number_is_given_again(tmp_path: Path, torn: int):
    spool = filled(tmp_path, 3)
    size = spool.size
    spool.close()
    os.truncate(next(tmp_path.glob("*.seg")), size - torn)
    again = Spool(tmp_path)
    assert again.last_seq == 2
    assert again.cursor() == {"logs": {0: 20}}
    again.append(3, b"new 3", {"logs": {0: 21}})
    assert Spool(tmp_path).read(2, limit=10) == [(3, b"new 3")]


def test_a_flipped_byte_ends_the_spool_before_the_bad_record(tmp_path: Path):
    filled(tmp_path, 3).close()
    segment = next(tmp_path.glob("*.seg"))
    data = bytearray(segment.read_bytes())
    data[data.index(b"batch 3")] ^= 1
    segment.write_bytes(data)
    assert Spool(tmp_path).last_seq == 2


def test_acknowledged_segments_are_deleted_but_the_newest_is_kept_for_its_cursor(tmp_path: Path):
    spool = filled(tmp_path, 20, segment_bytes=100)
    assert len(list(tmp_path.glob("*.seg"))) > 5
    spool.acknowledge(20)
    assert len(list(tmp_path.glob("*.seg"))) == 1
    assert spool.unacked == 0
    spool.close()
    assert Spool(tmp_path).cursor() == {"logs": {0: 200}}


def test_a_segment_whose_first_record_was_torn_is_no_trouble(tmp_path: Path):
    spool = filled(tmp_path, 4, segment_bytes=100)
    spool.close()
    newest = sorted(tmp_path.glob("*.seg"))[-1]
    first = int(newest.stem)
    newest.write_bytes(newest.read_bytes()[:3])
    again = Spool(tmp_path)
    assert again.last_seq == first - 1
    again.append(first, b"again", {})
    assert again.read(first - 1, 1) == [(first, b"again")]


def test_a_number_out_of_order_is_refused(tmp_path: Path):
    spool = filled(tmp_path, 2)
    with pytest.raises(ValueError, match="does not follow"):
        spool.append(4, b"", {})


def test_an_acknowledgement_beyond_what_was_written_changes_nothing_else(tmp_path: Path):
    spool = filled(tmp_path, 2)
    spool.acknowledge(99)
    assert spool.acked == 2
    spool.append(3, b"3", {})
    assert spool.unacked == 1


def test_it_is_full_from_its_limit_on(tmp_path: Path):
    spool = filled(tmp_path, 3, limit=100)
    assert spool.is_full


def test_reading_stops_at_the_byte_limit(tmp_path: Path):
    spool = filled(tmp_path, 10)
    assert len(spool.read(0, limit=10, limit_bytes=15)) == 3
