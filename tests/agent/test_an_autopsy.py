"""A real launch that trains and then hangs: what its agent finds out about every rank when it is asked."""

import os
import signal
from itertools import count
from typing import Any

import pytest

from tests.agent.node import AgentProcess, Server
from trainer_agent.agent import procs
from trainer_agent.wire.messages import AutopsyAttempt, Event
from webapp.incidents.hang.facts import facts_of
from webapp.incidents.hang.verdict import judge

pytestmark = pytest.mark.torch
_asked = count(1)


def autopsy(server: Server) -> dict[int, Event]:
    """Ask, and wait for what both ranks were doing."""
    number = next(_asked)
    server.send(AutopsyAttempt(v=1, id=900 + number, attempt=server.attempt, asked=number))

    def told() -> dict[int, Event]:
        return {e.rank: e for e in server.events if e.kind == "autopsy" and e.data["asked"] == number}

    server.wait_for(lambda: len(told()) == 2, timeout=30)
    return told()


def state_of(pid: int) -> str:
    process = procs.look_up(pid)
    return process.state if process else ""


def is_asleep(facts: dict[str, Any]) -> bool:
    """For long enough that the other rank has come to its collective."""
    frames = [frame["name"] for stack in facts["stacks"] for frame in stack["frames"]]
    return "think_long" in frames and facts["in_phase_s"] > 1


def test_a_rank_that_sleeps_before_backward_shows_where_while_the_other_waits_in_a_collective(
    agent: AgentProcess, server: Server
):
    agent.start()
    server.start("hangs.py")
    server.wait_for(lambda: b"step 10" in server.log(0))
    well = autopsy(server)
    assert all(event.data["alive"] for event in well.values())
    assert judge({rank: facts_of(event.data) for rank, event in well.items()}, quick=600.0).kind == "moving"
    server.wait_for(lambda: autopsy(server)[1].data["steps"] > well[1].data["steps"])  # being asked stops nobody

    os.kill(well[1].data["pid"], signal.SIGUSR2)
    server.wait_for(lambda: is_asleep(autopsy(server)[1].data))
    found = autopsy(server)
    waits, sleeps = found[0].data, found[1].data

    assert (waits["steps"], waits["phase"]) == (sleeps["steps"], "exposed_comm")
    assert (sleeps["phase"], sleeps["state"]) == ("other", "S")
    assert waits["collectives"] == sleeps["collectives"] + 1
    assert sleeps["stacks"][0]["thread"] == "MainThread"
    assert sleeps["stacks"][0]["frames"][0]["name"] == "think_long"
    assert waits["stacks"][0]["frames"][0]["name"] == "_engine_run_backward"
    assert waits["answered"] is True
    assert sleeps["answered"] is True
    enqueued = [one.data["flight"]["pg_status"]["0"]["last_enqueued_collective"] for one in found.values()]
    assert enqueued[0] > enqueued[1]
    assert waits["log"][-1].startswith("rank 0 step")
    assert waits["main_cpu"] < 0.5

    verdict = judge({rank: facts_of(event.data) for rank, event in found.items()})
    assert (verdict.kind, verdict.ranks, verdict.victims, verdict.cause) == ("behind", (1,), (0,), "other")
    assert verdict.frame is not None
    assert verdict.frame.name == "think_long"

    os.kill(sleeps["pid"], signal.SIGSTOP)
    found = autopsy(server)
    stopped = found[1].data
    assert (stopped["state"], stopped["answered"]) == ("T", False)
    assert stopped["stacks"][0]["frames"][0]["name"] == "think_long"
    verdict = judge({rank: facts_of(event.data) for rank, event in found.items()})
    assert (verdict.kind, verdict.ranks) == ("stopped", (1,))
    os.kill(sleeps["pid"], signal.SIGCONT)
    server.wait_for(lambda: state_of(sleeps["pid"]) == "S")  # else another thread may take the next signal

    os.kill(sleeps["pid"], signal.SIGUSR1)
    server.wait_for(lambda: state_of(sleeps["pid"]) == "D")
    found = autopsy(server)
    in_kernel = found[1].data
    assert (in_kernel["state"], in_kernel["phase"]) == ("D", "other")
    assert in_kernel["stacks"][0]["frames"][0]["name"] == "wait_for_disk"
    verdict = judge({rank: facts_of(event.data) for rank, event in found.items()})
    assert (verdict.kind, verdict.ranks, verdict.cause) == ("storage", (1,), "data")
    assert state_of(sleeps["pid"]) == "D"  # looking has not touched it
    os.kill(sleeps["pid"], signal.SIGKILL)
    assert server.wait_for_event("rank_exited", 1).data["signal"] == signal.SIGKILL
