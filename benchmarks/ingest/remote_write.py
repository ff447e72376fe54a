"""Prometheus' remote write, version 1: what Prometheus and VictoriaMetrics both take. Written here byte by byte, since
the client's cost is not what is measured."""

import struct
from collections.abc import Mapping

import httpx
import numpy as np

SERIES_AT_ONCE = 2_000
SAMPLE = np.dtype([("head", "V2"), ("value_tag", "u1"), ("value", "<f8"), ("time_tag", "u1"), ("time", "V6")])


def requests(values: Mapping[str, np.ndarray], times_ms: np.ndarray) -> list[bytes]:
    """Bodies with all series: of each name one per column (the rank) of [times, ranks]."""
    series = [
        _series(name, rank, times_ms, some[:, rank]) for name, some in values.items() for rank in range(some.shape[1])
    ]
    return [snappy(b"".join(series[at : at + SERIES_AT_ONCE])) for at in range(0, len(series), SERIES_AT_ONCE)]


def post(client: httpx.Client, url: str, body: bytes) -> None:
    """Send one; raises when it is refused."""
    headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}
    headers["X-Prometheus-Remote-Write-Version"] = "0.1.0"
    client.post(url, content=body, headers=headers).raise_for_status()


def snappy(data: bytes) -> bytes:
    """In snappy's format, uncompressed: literals only."""
    parts = [_varint(len(data))]
    for at in range(0, len(data), 65_536):
        piece = data[at : at + 65_536]
        parts += [b"\xf4" + struct.pack("<H", len(piece) - 1), piece]
    return b"".join(parts)


def _series(name: str, rank: int, times_ms: np.ndarray, values: np.ndarray) -> bytes:
    labels = _label("__name__", name.replace("/", "_")) + _label("rank", str(rank))
    samples = np.empty(values.size, SAMPLE)
    samples["head"] = np.frombuffer(b"\x12\x10", "V2")[0]  # a sample of 16 bytes
    samples["value_tag"], samples["value"], samples["time_tag"] = 0x09, values, 0x10
    sevens = (times_ms[:, None] >> np.arange(0, 42, 7)) & 0x7F
    sevens[:, :-1] |= 0x80
    samples["time"] = sevens.astype(np.uint8).view("V6")[:, 0]
    body = labels + samples.tobytes()
    return b"\x0a" + _varint(len(body)) + body


def _label(name: str, value: str) -> bytes:
    body = b"\x0a" + _varint(len(name)) + name.encode() + b"\x12" + _varint(len(value)) + value.encode()
    return b"\x0a" + _varint(len(body)) + body


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])
