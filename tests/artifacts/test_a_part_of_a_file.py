"""Which part of a file the header Range asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.byte_range import Outside, Part, part_asked

FILE = b"0123456789"
PARTS = {
    "bytes=0-": b"0123456789",
    "bytes=0-0": b"0",
    "bytes=3-5": b"345",
    "bytes=9-": b"9",
    "bytes=7-99": b"789",
    "bytes=-3": b"789",
    "bytes=-99": b"0123456789",
    "Bytes=2-2 ": b"2",
}
OUTSIDE = ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999-"]
WHOLE = [
    "",
    "bytes",
    "bytes=",
    "bytes=-",
    "bytes=5-3",
    "bytes=0-0,5-6",
    "bytes=a-b",
    "bytes=+1-2",
    "bytes=1_0-",
    "bytes=٣-",
    "lines=1-2",
    "bytes=" + "9" * 5000 + "-",
]


def cut(part: Part) -> bytes:
    return FILE[part.first : part.last + 1]


@pytest.mark.parametrize("header", PARTS)
def test_one_range_is_a_part(header: str) -> None:
    part = part_asked(header, len(FILE))
    assert part is not None
    assert (cut(part), part.length) == (PARTS[header], len(PARTS[header]))


@pytest.mark.parametrize("header", OUTSIDE)
def test_what_the_file_has_not_got_is_outside(header: str) -> None:
    with pytest.raises(Outside):
        part_asked(header, len(FILE))


@pytest.mark.parametrize("header", WHOLE)
def test_what_is_not_one_range_that_can_be_read_is_the_whole(header: str) -> None:
    assert part_asked(header, len(FILE)) is None


@pytest.mark.parametrize("header", ["bytes=0-", "bytes=-5", "bytes=3-4"])
def test_an_empty_file_has_no_parts(header: str) -> None:
    assert part_asked(header, 0) is None


@given(st.binary(min_size=1, max_size=40), st.integers(0, 60))
def test_what_has_come_and_what_is_asked_for_then_are_the_whole(file: bytes, came: int) -> None:
    try:
        part = part_asked(f"bytes={came}-", len(file))
    except Outside:
        assert came >= len(file)
    else:
        assert part is not None
        assert file[:came] + file[part.first : part.last + 1] == file
