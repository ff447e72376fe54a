import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.lab.commands import LabError, run
from tests.lab.network import Network
from tests.lab.owner import Owner, sweep
from tests.waiting import until

pytestmark = pytest.mark.lab

SINK = """
import socket
server = socket.create_server(("0.0.0.0", 5000))
while True:
    taken, _ = server.accept()
    while taken.recv(1 << 20):
        pass
    taken.close()
"""
SEND = """
import socket, sys, time
began = time.monotonic()
connection = socket.create_connection((sys.argv[1], 5000), timeout=10)
connected = time.monotonic()
connection.sendall(bytes(int(sys.argv[2])))
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
print(connected - began, time.monotonic() - connected)
"""
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    sweep()
    owner = Owner()
    made = Network(owner.prefix, 3)
    made.begin()
    sinks = [subprocess.Popen(inside(made, node, SINK)) for node in range(3)]
    for node in range(3):
        until(lambda node=node: is_open(made.address(node)))
    yield made
    for sink in sinks:
        sink.kill()
        sink.wait()
    made.end()
    owner.end()


@pytest.fixture(autouse=True)
def healed(network) -> Iterator[None]:
    yield
    network.heal()


def inside(network: Network, node: int, code: str, *arguments: str) -> list[str]:
    return ["ip", "netns", "exec", network.space(node), sys.executable, "-c", code, *arguments]


def is_open(address: str) -> bool:
    try:
        socket.create_connection((address, 5000), timeout=1).close()
    except OSError:
        return False
    return True


def send(network: Network, source: int, target: int, size: int) -> tuple[float, float]:
    """Seconds to connect, and to send so many bytes and be done."""
    command = inside(network, source, SEND, network.address(target), str(size))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    connected, sent = map(float, done.stdout.split())
    return connected, sent


def test_a_cap_on_a_card_holds_both_ways_and_for_no_other_node(network) -> None:
    network.cap(1, 40)
    assert send(network, 0, 1, 2 * MEGABYTE)[1] > 0.3
    assert send(network, 1, 0, 2 * MEGABYTE)[1] > 0.3
    assert send(network, 0, 2, 2 * MEGABYTE)[1] < 0.3


def test_a_cap_on_a_link_holds_in_one_direction(network) -> None:
    network.cap_link(0, 1, 40)
    assert send(network, 0, 1, 2 * MEGABYTE)[1] > 0.3
    assert send(network, 1, 0, 2 * MEGABYTE)[1] < 0.3
    assert send(network, 0, 2, 2 * MEGABYTE)[1] < 0.3


def test_a_delayed_node_answers_late_and_still_carries_whole_segments(network) -> None:
    network.delay(1, 50)
    until(lambda: is_open(network.address(1)))
    connected, sent = send(network, 0, 1, 4 * MEGABYTE)
    assert connected > 0.1
    assert sent < 10
    assert min(send(network, 0, 2, MEGABYTE)[0] for _ in range(3)) < 0.1


def test_packets_are_lost_on_the_receivers_side(network) -> None:
    network.lose(1, 999, 0)
    began = time.monotonic()
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run(
            inside(network, 0, SEND.replace("timeout=10", "timeout=1"), network.address(1), "1"),
            check=True,
            capture_output=True,
        )
    assert time.monotonic() - began > 1
    assert send(network, 2, 1, 1000)[0] < 1


def test_a_wrong_command_is_told_with_its_words(network) -> None:
    with pytest.raises(LabError, match=r"ip link show nothing: .*does not exist"):
        run("ip link show nothing", inside=network.space(1))
