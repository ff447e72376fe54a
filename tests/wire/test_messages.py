"""The wire stays readable: every golden file of every version still decodes, and bad bytes are one kind of error."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.samples import SAMPLES
from trainer_agent.wire import codec

GOLDEN = Path(__file__).parent / "golden"
DECODERS = {"batch": codec.decode_batch, "heartbeat": codec.decode_heartbeat}


def decoder(name: str):
    return DECODERS.get(name.partition("-")[0], codec.decode_command)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_golden_file_of_version_1_decodes_to_what_was_sent(name):
    data = (GOLDEN / f"v1-{name}.bin").read_bytes()
    assert decoder(name)(data) == SAMPLES[name]


@pytest.mark.parametrize("name", SAMPLES)
def test_encoding_and_decoding_gives_the_same_message(name):
    assert decoder(name)(codec.encode(SAMPLES[name])) == SAMPLES[name]


@given(st.binary(max_size=300))
def test_any_other_bytes_are_a_bad_message(data):
    with pytest.raises(codec.BadMessage):
        codec.decode_batch(data)


@pytest.mark.parametrize("cut", [0, 1, 10, -1])
def test_a_cut_message_is_a_bad_message(cut):
    whole = codec.encode(SAMPLES["batch"])
    with pytest.raises(codec.BadMessage):
        codec.decode_batch(whole[:cut])


def test_a_message_of_a_later_version_is_refused_with_both_numbers():
    import msgspec

    later = codec.encode(msgspec.structs.replace(SAMPLES["stop"], v=2))
    with pytest.raises(codec.BadMessage, match="wire version 2, this side speaks 1"):
        codec.decode_command(later)


def test_a_field_that_a_newer_sender_added_is_ignored():
    import msgspec

    sent = msgspec.msgpack.encode({"type": "forget", "v": 1, "id": 3, "attempt": 7, "added_later": True})
    assert codec.decode_command(sent) == SAMPLES["forget"]


def test_a_small_message_that_unpacks_to_gigabytes_is_refused():
    import zstandard

    bomb = zstandard.ZstdCompressor(level=1).compress(bytes(codec.MAX_DECODED + 1))
    assert len(bomb) < 100_000
    with pytest.raises(codec.BadMessage):
        codec.decode_batch(bomb)
