import struct

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from webapp.telemetry.blocks import Block, decode, empty, encode
from webapp.telemetry.merge import cut, joined, put, roll_up


@st.composite
def blocks(draw, elements):
    rows, columns = draw(st.integers(0, 40)), draw(st.integers(0, 5))
    index = draw(st.lists(st.integers(-(2**40), 2**40), min_size=rows, max_size=rows, unique=True))
    names = draw(st.lists(st.integers(0, 2**20), min_size=columns, max_size=columns, unique=True))
    values = draw(arrays.arrays(np.float64, (rows, columns), elements=elements))
    present = draw(arrays.arrays(np.bool_, (rows, columns)))
    return Block(
        np.array(sorted(index), np.int64), np.array(sorted(names), np.int64), np.where(present, values, 0.0), present
    )


def assert_same(a: Block, b: Block) -> None:
    assert np.array_equal(a.index, b.index)
    assert np.array_equal(a.columns, b.columns)
    assert np.array_equal(a.present, b.present)
    assert np.array_equal(np.where(a.present, a.values, 0), np.where(b.present, b.values, 0), equal_nan=True)


@given(blocks(st.floats(allow_nan=True, allow_infinity=True)))
def test_any_floats_come_back_bit_for_bit_and_a_nan_is_not_a_gap(block):
    assert_same(decode(encode(block, "f8")), block)
    assert_same(decode(encode(block, "us")), block)


@given(blocks(st.integers(0, 2**32 - 1).map(lambda us: us / 1e6)))
def test_microseconds_come_back_exactly(block):
    assert_same(decode(encode(block, "us")), block)


@given(blocks(st.floats(width=32)))
def test_roll_ups_come_back_exactly(block):
    rolled = roll_up(block, 1)
    back = decode(encode(rolled, "f8"))
    assert_same(back, rolled)
    assert back.rolled is not None
    assert rolled.rolled is not None
    seen = rolled.present
    for name in ("mins", "maxs", "counts", "bad"):
        assert np.array_equal(getattr(back.rolled, name)[seen], getattr(rolled.rolled, name)[seen], equal_nan=True)


@given(blocks(st.integers(0, 2**32 - 1).map(lambda us: us / 1e6)))
def test_means_of_timers_come_back_to_a_nanosecond(block):
    rolled = roll_up(roll_up(block, 1), 2)
    back = decode(encode(rolled, "us"))
    assert np.allclose(back.values, rolled.values, rtol=1e-12, atol=1e-9)
    assert back.rolled is not None
    assert rolled.rolled is not None
    for name in ("mins", "maxs", "counts", "bad"):
        one, other = (getattr(some, name)[rolled.present] for some in (back.rolled, rolled.rolled))
        assert np.array_equal(one, other)


def test_a_roll_up_of_timers_costs_about_two_bytes_for_each_of_its_three_numbers():
    us = np.rint(np.random.default_rng(1).normal(1e5, 1e4, (2048, 64))) / 1e6
    rolled = roll_up(Block(np.arange(2048), np.arange(64), us, np.ones((2048, 64), bool)), 1)
    assert len(encode(rolled, "us")) / rolled.points < 7


def test_a_roll_up_as_earlier_versions_stored_it_is_read():
    index = _shuffled(np.array([0, 16], "<i8"))
    columns = _shuffled(np.array([0, 1], "<u4"))
    means = _shuffled(np.array([0.25, 0.5, 1.5, 2.5], "<f8"))
    extreme = b"\x00" + _shuffled(np.array([1, 2, 3, 4], "<u4"))
    counts = _shuffled(np.array([16, 7, 16, 9], "<u4"))
    body = b"".join([index, columns, means, extreme, extreme, counts, np.packbits([0, 1, 0, 0]).tobytes()])
    head = struct.pack("<BBBBII", 1, 2, 0, 1, 2, 2)
    found = decode(head + zstandard.ZstdCompressor().compress(body))
    assert found.values.tolist() == [[0.25, 1.5], [0.5, 2.5]]
    assert found.rolled is not None
    assert found.rolled.maxs.tolist() == [[1e-6, 3e-6], [2e-6, 4e-6]]
    assert found.rolled.counts.tolist() == [[16, 16], [7, 9]]
    assert found.rolled.bad.tolist() == [[False, False], [True, False]]


def _shuffled(values: np.ndarray) -> bytes:
    return values.view(np.uint8).reshape(-1, values.itemsize).T.tobytes()


@given(blocks(st.floats(-1e6, 1e6)), st.integers(-(2**40), 2**40))
def test_cut_in_two_and_joined_is_the_same(block, at):
    assert_same(joined([cut(block, None, at), cut(block, at, None)]), block if block.index.size else empty())


def test_a_point_written_twice_keeps_the_last_value():
    block = put(empty(), np.array([3, 1, 3]), np.array([7, 7, 7]), np.array([1.0, 2.0, 5.0]))
    assert block.columns.tolist() == [1, 3]
    assert block.values.tolist() == [[2.0, 5.0]]


def test_times_in_float32_cost_about_three_bytes_a_point():
    noise = np.random.default_rng(1).normal(0.1, 0.01, (128, 64)).astype(np.float32).astype(np.float64)
    block = Block(np.arange(128), np.arange(64), noise, np.ones((128, 64), bool))
    assert len(encode(block, "f8")) / block.points < 3.6
    micro = Block(np.arange(128), np.arange(64), np.rint(noise * 1e6) / 1e6, np.ones((128, 64), bool))
    assert len(encode(micro, "us")) / block.points < 2.6


def test_a_block_of_another_version_is_refused():
    with pytest.raises(ValueError, match="version"):
        decode(b"\x63" + b"\0" * 11)
