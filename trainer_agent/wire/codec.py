"""Bytes to messages and back: msgpack, zstd above 512 bytes, validated on the way in."""

import threading

import msgspec
import zstandard

from trainer_agent.wire.messages import WIRE_VERSION, Batch, Command, Heartbeat, Message

MAX_DECODED = 64 * 1024 * 1024
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_COMPRESS_FROM = 512

_encoder = msgspec.msgpack.Encoder()
_batch = msgspec.msgpack.Decoder(Batch)
_command = msgspec.msgpack.Decoder(Command)
_heartbeat = msgspec.msgpack.Decoder(Heartbeat)


class _Zstd(threading.local):
    """One of each for a thread: to make one costs as much as a small message."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=1)
        self.decompressor = zstandard.ZstdDecompressor()


zstd = _Zstd()


class BadMessage(ValueError):
    """Bytes that are no message of a version that we speak. The consumer parks it and goes on."""


def encode(message: Message) -> bytes:
    """Message to bytes."""
    raw = _encoder.encode(message)
    if len(raw) < _COMPRESS_FROM:
        return raw
    return zstd.compressor.compress(raw)


def decode_batch(data: bytes) -> Batch:
    """Bytes to Batch, or BadMessage."""
    batch: Batch = _decode(_batch, data)
    return batch


def decode_command(data: bytes) -> Command:
    """Bytes to Command, or BadMessage."""
    command: Command = _decode(_command, data)
    return command


def decode_heartbeat(data: bytes) -> Heartbeat:
    """Bytes to Heartbeat, or BadMessage."""
    heartbeat: Heartbeat = _decode(_heartbeat, data)
    return heartbeat


def _decode(decoder, data: bytes):  # type: ignore[no-untyped-def]
    try:
        message = decoder.decode(inflated(data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(str(error)[:500]) from error
    if message.v != WIRE_VERSION:
        raise BadMessage(f"wire version {message.v}, this side speaks {WIRE_VERSION}")
    return message


def inflated(data: bytes) -> bytes:
    """The msgpack bytes inside a message, or BadMessage."""
    if data[:4] != _ZSTD_MAGIC:
        return data
    try:
        size = zstandard.get_frame_parameters(data).content_size
        if size > MAX_DECODED:
            raise BadMessage(f"message of {size} bytes is over the limit of {MAX_DECODED}")
        return zstd.decompressor.decompress(data, max_output_size=MAX_DECODED)
    except zstandard.ZstdError as error:
        raise BadMessage(str(error)[:500]) from error
