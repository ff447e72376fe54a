"""How an attempt's traffic to each of its other nodes goes, by what TCP counts for its ranks' connections."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from trainer_agent.agent import tcp_info
from trainer_agent.agent.stuck_sockets import inodes
from trainer_agent.agent.tcp_info import Connection

log = logging.getLogger(__name__)

ENOUGH = 100_000  # bytes sent between two looks: of fewer no cost can be told
_MB = 1e6


def nodes_by_address(peers: Mapping[int, Iterable[str]], mine: int) -> dict[str, int]:
    """Address -> node rank of the other nodes. Empty on one machine: an address of two nodes names neither."""
    shared = Counter(address for addresses in peers.values() for address in set(addresses))
    return {
        address: node
        for node, addresses in peers.items()
        for address in addresses
        if node != mine and shared[address] == 1
    }


class Links:
    """Remembers the counters of the look before."""

    def __init__(self) -> None:
        self._before: dict[bytes, Connection] = {}
        self._now: dict[bytes, Connection] = {}
        self._told = False

    def look(self) -> None:
        """Read the counters of this machine's connections."""
        self._before, self._now = self._now, {}
        try:
            self._now = {one.key: one for one in tcp_info.connections()}
        except OSError as error:
            if not self._told:
                log.warning("the state of links is not known: %s", error)
            self._told = True

    def metrics(self, pids: Iterable[int], nodes: Mapping[str, int]) -> dict[str, float]:
        """`link/<node>/…` of what these processes sent to each node since the look before; see `telemetry/units.py`."""
        if not nodes or not self._now:
            return {}
        mine = {int(inode) for pid in pids for inode in inodes(pid)}
        to_node: dict[int, list[Connection]] = defaultdict(list)
        for one in self._now.values():
            if one.inode in mine and one.peer in nodes and one.key in self._before:
                to_node[nodes[one.peer]].append(one)
        found: dict[str, float] = {}
        for node, connections in sorted(to_node.items()):
            found |= {f"link/{node}/{name}": value for name, value in self._of_one(connections).items()}
        return found

    def _of_one(self, connections: list[Connection]) -> dict[str, float]:
        sent = {one.key: one.sent - self._before[one.key].sent for one in connections}
        total = sum(sent.values())
        if total < ENOUGH:
            return {}
        busy = sum(one.busy - self._before[one.key].busy for one in connections)
        again = sum(one.retransmitted - self._before[one.key].retransmitted for one in connections)
        busiest = max(connections, key=lambda one: sent[one.key])
        return {
            "busy_ms_per_mb": 1e3 * busy / (total / _MB),
            "retransmitted": again / total,
            "rtt": busiest.rtt,
        }
