"""Units of the built-in metrics as stored; what a script logs has none."""

_UNITS = {
    "comm/bytes": "B",
    "comm/busbw": "B/s",
    "gpu/util": "%",
    "gpu/memory": "B",
    "gpu/power": "W",
    "gpu/temperature": "°C",
    "gpu/sm_clock": "MHz",
    "node/cpu": "%",
    "node/memory": "B",
    "node/net_rx": "B/s",
    "node/net_tx": "B/s",
    "node/retransmits": "1/s",
    "rank/cpu": "%",
    "rank/rss": "B",
}
_SECONDS = ("phase/", "local/", "comm/", "step/")


def unit_of(name: str) -> str:
    """Unit of a metric's stored values, "" when unknown."""
    return _UNITS.get(name) or ("s" if name.startswith(_SECONDS) else "")
