"""What the kernel counts for connections between nodes, and whether ranks get a processor."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.waiting import until
from trainer_agent.agent import procs, tcp_info
from trainer_agent.agent.links import ENOUGH, Links, nodes_by_address
from trainer_agent.agent.waiting import Waiting

MEGABYTES = 4


@pytest.fixture
def connection() -> Iterator[socket.socket]:
    """To a listener of this process that takes all."""
    server = socket.create_server(("127.0.0.1", 0))
    ours = socket.create_connection(server.getsockname())
    theirs, _ = server.accept()

    def swallow() -> None:
        while theirs.recv(1 << 20):
            pass

    thread = threading.Thread(target=swallow)
    thread.start()
    yield ours
    ours.close()
    thread.join()
    theirs.close()
    server.close()


def test_what_was_sent_to_a_node_has_its_cost(connection: socket.socket) -> None:
    links = Links()
    links.look()
    connection.sendall(bytes(MEGABYTES * 1_000_000))
    links.look()
    found = links.metrics([os.getpid()], {"127.0.0.1": 3})
    assert set(found) == {"link/3/busy_ms_per_mb", "link/3/retransmitted", "link/3/rtt"}
    assert 0 <= found["link/3/busy_ms_per_mb"] < 1_000  # the kernel counts in ticks
    assert 0 <= found["link/3/retransmitted"] < 1
    assert 0 < found["link/3/rtt"] < 1


def test_connections_of_other_processes_to_other_machines_and_quiet_ones_say_nothing(connection) -> None:
    links = Links()
    links.look()
    connection.sendall(bytes(ENOUGH // 10))
    links.look()
    assert links.metrics([os.getpid()], {"127.0.0.1": 3}) == {}
    connection.sendall(bytes(2 * ENOUGH))
    links.look()
    assert links.metrics([os.getpid()], {"10.9.8.7": 3}) == {}
    assert links.metrics([os.getppid()], {"127.0.0.1": 3}) == {}
    assert links.metrics([os.getpid()], {}) == {}


def test_a_message_that_is_cut_or_has_no_counters_is_no_connection() -> None:
    head = bytes([socket.AF_INET, 1, 0, 0]) + bytes(tcp_info._ANSWER.size - 4)
    assert tcp_info.read(head) is None
    assert tcp_info.read(head + b"\x04\x00\x02\x00") is None
    assert tcp_info.read(head + b"\x00\x00\x00\x00") is None


def test_an_address_that_two_nodes_have_names_neither_and_ones_own_is_left_out() -> None:
    peers = {0: ["10.0.0.1", "172.17.0.1"], 1: ["10.0.0.2", "10.0.0.2", "172.17.0.1"], 2: ["10.0.0.3"]}
    assert nodes_by_address(peers, 0) == {"10.0.0.2": 1, "10.0.0.3": 2}
    assert nodes_by_address({0: ["127.0.0.1"], 1: ["127.0.0.1"]}, 0) == {}


def test_a_process_that_wants_a_processor_and_shares_it_waits_and_a_stopped_one_is_told() -> None:
    core = min(os.sched_getaffinity(0))
    burn = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    two = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(2)]
    waiting = Waiting()
    try:
        until(lambda: all(os.sched_getaffinity(one.pid) == {core} for one in two))
        until(lambda: look(waiting, two[0].pid, 0.05).get("rank/run_delay", 0) > 0.1)
        os.kill(two[0].pid, signal.SIGSTOP)
        until(lambda: look(waiting, two[0].pid, 0.05).get("rank/stopped") == 1.0)
    finally:
        for one in two:
            one.kill()
            one.wait()


def look(waiting: Waiting, pid: int, elapsed: float) -> dict[str, float]:
    process = procs.look_up(pid)
    assert process is not None
    return waiting.metrics(process, elapsed)
