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
    "rank/run_delay": "",  # share of the time in which the main thread waited for a processor
    "rank/stopped": "",  # 1 when the process was found stopped, else no sample
}
_OF_LINKS = {"busy_ms_per_mb": "ms/MB", "retransmitted": "", "rtt": "s"}  # what follows link/<node rank>/
_SECONDS = ("phase/", "local/", "comm/", "step/")


def unit_of(name: str) -> str:
    """Unit of a metric's stored values, "" when unknown."""
    if is_of_link(name):
        return _OF_LINKS.get(name.rpartition("/")[2], "")
    return _UNITS.get(name) or ("s" if name.startswith(_SECONDS) else "")


def is_of_link(name: str) -> bool:
    """Whether the metric is of what each node (its columns) sends to one other, `link/<node rank>/…`."""
    return name.startswith("link/")


def is_of_nodes(name: str) -> bool:
    """Whether the metric's columns are node ranks."""
    return name.startswith("node/") or is_of_link(name)
