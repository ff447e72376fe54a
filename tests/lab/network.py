"""A bridge and a namespace per node; caps, loss, latency and cut cables between them.

There is no netem here: rates are capped by HTB, packets lost by nftables on the receiver's side, latency is made by a
forwarder of our own (delay.py).
"""

import subprocess
import sys

from tests.lab.commands import LabError, run, tried
from tests.lab.delay import MODULE as DELAY

_FREE = "10gbit"  # a rate that nothing here reaches
_SUBNETS = 200


class Network:
    """Nodes are counted from 0. The server's address is the bridge's."""

    def __init__(self, prefix: str, nodes: int) -> None:
        self.prefix = prefix
        self.nodes = nodes
        self._forwarders: dict[int, subprocess.Popen[bytes]] = {}
        self._subnet = _free_subnet()

    def begin(self) -> None:
        """Make it."""
        run(f"ip link add {self.prefix} type bridge")
        run(f"ip address add {self.server}/24 dev {self.prefix}")
        run(f"ip link set {self.prefix} up")
        for node in range(self.nodes):
            self._add(node)

    @property
    def server(self) -> str:
        """Address at which nodes reach the server."""
        return f"{self._subnet}.1"

    def address(self, node: int) -> str:
        """Of a node."""
        return f"{self._subnet}.{node + 11}"

    def space(self, node: int) -> str:
        """Name of its namespace."""
        return f"{self.prefix}-n{node}"

    def port(self, node: int) -> str:
        """The bridge's end of its cable."""
        return f"{self.prefix}-{node}"

    def cap(self, node: int, mbit: float) -> None:
        """Its network card, both ways."""
        run(f"tc class change dev eth0 classid 1:1 htb rate {mbit}mbit ceil {mbit}mbit", inside=self.space(node))
        run(f"tc class change dev {self.port(node)} classid 1:1 htb rate {mbit}mbit ceil {mbit}mbit")

    def cap_link(self, source: int, target: int, mbit: float) -> None:
        """What one node sends to another one, and nothing else."""
        inside = self.space(source)
        number = target + 2
        rate = f"htb rate {mbit}mbit ceil {mbit}mbit"
        run(f"tc class replace dev eth0 parent 1: classid 1:{number} {rate}", inside=inside)
        match = f"u32 match ip dst {self.address(target)}/32 flowid 1:{number}"
        run(f"tc filter add dev eth0 parent 1: protocol ip prio {number} {match}", inside=inside)

    def lose(self, target: int, permille: int, source: int | None = None) -> None:
        """Of what arrives at a node, from one other or from all. On the way in: a drop on the way out is no loss."""
        inside = self.space(target)
        sender = "" if source is None else f"ip saddr {self.address(source)} "
        run("nft add table inet lab", inside=inside)
        run("nft add chain inet lab in { type filter hook input priority 0 ; }", inside=inside)
        run(f"nft add rule inet lab in {sender}numgen random mod 1000 < {permille} drop", inside=inside)

    def delay(self, node: int, ms: float) -> None:
        """All packets of a node, each way."""
        port, far = self.port(node), f"{self.prefix}-d{node}"
        run(f"ip link add {far} type veth peer name {far}p")
        run(f"ip link set {far}p master {self.prefix}")
        for name in (far, f"{far}p"):
            run(f"ip link set {name} up")
        for name in (far, port):
            run(f"ip link set {name} arp off promisc on")  # only the forwarder answers
        run(f"ip link set {port} nomaster")
        self._forwarders[node] = subprocess.Popen([sys.executable, "-m", DELAY, port, far, str(ms)])

    def cut(self, node: int) -> None:
        """Pull its cable."""
        run(f"ip link set {self.port(node)} down")

    def heal(self) -> None:
        """All as it was made."""
        for node, forwarder in self._forwarders.items():
            forwarder.kill()
            forwarder.wait()
            run(f"ip link delete {self.prefix}-d{node}")
            run(f"ip link set {self.port(node)} arp on promisc off master {self.prefix}")
        self._forwarders = {}
        for node in range(self.nodes):
            run(f"ip link set {self.port(node)} up")
            tried(f"ip netns exec {self.space(node)} nft delete table inet lab")
            self._shape(node)

    def end(self) -> None:
        """The forwarders; the rest is its owner's to remove."""
        for forwarder in self._forwarders.values():
            forwarder.kill()
            forwarder.wait()

    def _add(self, node: int) -> None:
        space, port = self.space(node), self.port(node)
        run(f"ip netns add {space}")
        run(f"ip link add {port} type veth peer name eth0 netns {space}")
        run(f"ip link set {port} master {self.prefix} up")
        run("ip link set lo up", inside=space)
        run(f"ip address add {self.address(node)}/24 dev eth0", inside=space)
        run("ip link set eth0 up", inside=space)
        self._shape(node)

    def _shape(self, node: int) -> None:
        """Room for caps, all of them wide open."""
        for device, inside in (("eth0", self.space(node)), (self.port(node), "")):
            prefix = f"ip netns exec {inside} " if inside else ""
            tried(f"{prefix}tc qdisc delete dev {device} root")
            run(f"tc qdisc add dev {device} root handle 1: htb default 1", inside=inside)
            run(f"tc class add dev {device} parent 1: classid 1:1 htb rate {_FREE} ceil {_FREE}", inside=inside)


def _free_subnet() -> str:
    taken = run("ip -o -4 address show")
    for number in range(_SUBNETS):
        if f" 10.219.{number}." not in taken:
            return f"10.219.{number}"
    raise LabError("No subnet below 10.219 is free.")
