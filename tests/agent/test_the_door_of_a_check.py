"""Links measured between real sockets: by the token only, one at a time, and never for longer than allowed."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.waiting import until
from trainer_agent.agent.check_door import Door, call
from trainer_agent.agent.check_facts import facts, place
from trainer_agent.agent.gpu import Gpus
from trainer_agent.agent.link_probe import Peer, Plan, measure
from webapp.preflight.schedule import everybody, of_place

TOKEN = "0f" * 32


@pytest.fixture
def doors():
    made = [Door(TOKEN, [20_000, 20_999], 60.0) for _node in range(3)]
    yield made
    for door in made:
        door.close()


def plan(doors: list[Door], own: int, turns: list[int], limit: float = 30.0) -> Plan:
    peers = [Peer(f"n{k}", "127.0.0.1", door.port, door.meeting_port) for k, door in enumerate(doors)]
    return Plan(TOKEN, own, peers, turns, limit, 0.05)


def test_every_node_measures_what_arrives_and_the_caller_the_round_trip(doors):
    turns = everybody(range(3))
    with ThreadPoolExecutor(3) as pool:
        began = time.monotonic()
        work = [pool.submit(measure, plan(doors, k, of_place(turns, k)), doors[k], began) for k in range(3)]
        found = [one.result() for one in work]
    assert all(20_000 <= door.meeting_port <= 20_999 for door in doors)
    for own, links in enumerate(found):
        assert set(links) == {f"n{k}" for k in range(3) if k != own}
        for other, link in links.items():
            assert link["mb_s"] > 0
            assert ("rtt_ms" in link) == (own > int(other[1:]))
            assert "error" not in link


def test_who_has_not_the_token_is_sent_away_and_never_handed_out(doors):
    door = doors[0]
    with call("127.0.0.1", door.port, f"{'a' * 64} 1 talk", time.monotonic() + 10) as stranger:
        assert stranger.recv(1) == b""
    with call("127.0.0.1", door.port, "hello", time.monotonic() + 10) as stranger:
        assert stranger.recv(1) == b""
    assert door.wait_for(1, "talk", time.monotonic()) is None
    with call("127.0.0.1", door.port, f"{TOKEN} 1 talk", time.monotonic() + 10):
        known = door.wait_for(1, "talk", time.monotonic() + 30)
        assert known is not None
        known.close()


def test_a_door_that_is_closed_listens_no_more(doors):
    doors[0].close()

    def is_closed() -> bool:
        try:
            socket.create_connection(("127.0.0.1", doors[0].port), timeout=1).close()
        except OSError:
            return True
        return False

    until(is_closed)


def test_a_node_that_is_gone_is_told_as_refused_and_one_that_does_not_come_costs_its_turn_only(doors):
    doors[0].close()
    refused = {"n0": {"meeting": "refused", "error": "refused"}}
    until(lambda: measure(plan(doors, 2, [0]), doors[2], time.monotonic()) == refused)  # one of its ports closes first
    assert measure(plan(doors, 1, [2], limit=0.2), doors[1], time.monotonic()) == {}


def test_a_caller_whose_peer_is_busy_says_that_it_was_late(doors):
    assert measure(plan(doors, 2, [1], limit=2.0), doors[2], time.monotonic()) == {"n1": {"error": "late"}}


def test_a_node_tells_of_its_disk_shared_memory_versions_and_gpus(tmp_path):
    told = facts(str(tmp_path), tmp_path, "no-such-python", Gpus())
    assert told["disk"]["path"] == str(tmp_path)
    assert told["disk"]["free"] > 0
    assert told["disk"]["writable"]
    assert told["shared"]["path"] == "/dev/shm"
    assert (told["versions"], isinstance(told["gpus"], list)) == ({}, True)
    assert place(str(tmp_path / "none")) == {"path": str(tmp_path / "none"), "free": None, "writable": False}
