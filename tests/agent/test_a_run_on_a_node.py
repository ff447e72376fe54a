"""The real agent, shim and torchrun with small scripts: what the server is told, in which order."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.agent.node import NODE, AgentProcess, Server, is_alive, processes_of
from tests.waiting import until
from webapp.runs.rank_reasons import word_of

pytestmark = pytest.mark.torch


def test_a_happy_run_is_told_in_order_and_finished_comes_after_every_log_byte(agent: AgentProcess, server: Server):
    agent.start()
    command = server.start("happy.py")
    server.send(command)  # the server repeats what it has no answer to
    server.wait_for_event("finished")

    kinds = server.kinds()
    assert [k for k in kinds if k.startswith(("acc", "lau", "fin"))] == ["accepted", "launched", "finished"]
    assert kinds.index("launched") < kinds.index("rank_started")
    assert kinds.count("rank_started") == kinds.count("rank_exited") == 2
    assert kinds[-1] == "finished"
    assert not any(batch.logs for batch in server.batches[-1:])
    finished = server.event("finished").data
    assert finished["launcher_code"] == 0
    assert finished["survivors"] == []
    for rank in (0, 1):
        assert server.event("rank_exited", rank).data["code"] == 0
        assert server.log(rank) == b"".join(f"rank {rank} step {i}\n".encode() for i in range(5))
        assert (agent.attempt(server.attempt) / f"ranks/rank{rank}.log").read_bytes() == server.log(rank)
    server.wait_for((agent.attempt(server.attempt) / "closed.json").exists)
    until(lambda: not (agent.attempt(server.attempt) / "start.msgpack").exists())
    until(lambda: not Path(f"/dev/shm/paceline/{NODE}-{server.attempt}").exists())


def test_a_rank_that_raises_ends_the_launch_and_its_traceback_is_told(agent: AgentProcess, server: Server):
    agent.start()
    server.start("raises.py")
    server.wait_for_event("finished")

    exited = server.event("rank_exited", 0).data
    assert exited["code"] == 1
    assert exited["traceback"].startswith("Traceback (most recent call last)")
    assert exited["traceback"].endswith("ValueError: the learning rate must be positive")
    assert server.event("rank_exited", 1).data["signal"] == signal.SIGTERM
    assert server.event("finished").data["launcher_code"] == 1
    assert server.event("rank_exited", 0).at <= server.event("rank_exited", 1).at


def test_an_exit_code_is_told_as_it_was_and_chatty_bytes_arrive_as_they_were(agent: AgentProcess, server: Server):
    agent.start()
    server.start("chatty.py", ranks_per_node=1)
    server.wait_for_event("finished")

    said = server.log(0)
    assert said.startswith(b"\xff\xfe not utf-8 \x00\nto stderr\n")
    assert said.endswith(b"x\nthe end")
    assert len(said) == 10_000_001 + len(b"\xff\xfe not utf-8 \x00\nto stderr\nthe end")


def test_stop_ends_a_rank_that_ignores_it_and_a_grandchild_in_its_own_session(agent: AgentProcess, server: Server):
    agent.start()
    server.start("stubborn.py", "", ranks_per_node=1)
    server.wait_for(lambda: b"own" in server.log(0))
    pids = [int(line.split()[1]) for line in server.log(0).splitlines()]
    shim = agent.attempt(server.attempt) / "shim.json"
    assert all(map(is_alive, pids))
    assert shim.exists()

    server.stop(grace=0.3)
    finished = server.wait_for_event("finished")
    assert finished.data["survivors"] == []
    assert finished.data["reason"] == "user"
    assert server.event("stopping").data["signal"] == "SIGTERM"
    assert server.event("rank_exited", 0).data["signal"] == signal.SIGKILL
    assert not any(map(is_alive, pids))
    assert processes_of(NODE, server.attempt) == []


def test_a_stop_gives_time_to_save_and_asks_each_rank_once(agent: AgentProcess, server: Server):
    agent.start()
    command = server.start("saves_a_checkpoint.py")
    server.wait_for(lambda: b"ready" in server.log(0) and b"ready" in server.log(1))
    server.stop(grace=10)
    server.wait_for_event("finished")

    for rank in (0, 1):
        assert server.log(rank) == b"ready\nsaving\nsaved\n"
        assert server.event("rank_exited", rank).data["code"] == 0
        assert (agent.home / "checkpoints" / command.run / f"rank{rank}").read_text() == "saved"


def test_an_agent_killed_and_started_again_goes_on_at_the_right_byte(agent: AgentProcess, server: Server):
    agent.start()
    server.start("counts.py", ranks_per_node=1)
    server.wait_for(lambda: len(server.log(0)) > 50)
    rank = server.event("rank_started").data["pid"]
    agent.end(signal.SIGKILL)
    before = server.log(0)
    agent.start()
    server.wait_for(lambda: len(server.log(0)) > len(before) + 50)
    assert is_alive(rank)
    server.stop(grace=1)
    server.wait_for_event("finished")

    assert server.log(0) == (agent.attempt(server.attempt) / "ranks/rank0.log").read_bytes()
    lines = server.log(0).split(b"\n")[:-1]
    assert [int(line) for line in lines] == list(range(len(lines)))
    assert server.kinds().count("rank_started") == 1
    assert server.kinds().count("accepted") == 1


def test_a_shim_that_is_killed_is_found_out_and_its_ranks_with_it(agent: AgentProcess, server: Server):
    agent.start()
    server.start("counts.py", ranks_per_node=1)
    rank = server.wait_for_event("rank_started").data["pid"]
    shim = until((agent.attempt(server.attempt) / "shim.json").read_text)
    os.kill(int(shim.split('"pid": ')[1].split(",")[0]), signal.SIGKILL)
    finished = server.wait_for_event("finished")
    assert finished.data["reason"] == "shim_lost"
    assert not is_alive(rank)
    assert processes_of(NODE, server.attempt) == []


def test_sigterm_ends_the_agent_and_not_the_ranks_and_forget_removes_all(agent: AgentProcess, server: Server):
    agent.start()
    server.start("counts.py", ranks_per_node=1)
    rank = server.wait_for_event("rank_started").data["pid"]
    began = time.monotonic()
    agent.end(signal.SIGTERM)
    assert time.monotonic() - began < 10
    assert is_alive(rank)
    agent.start()
    server.forget()
    server.wait_for(lambda: not agent.attempt(server.attempt).exists())
    assert not is_alive(rank)
    assert processes_of(NODE, server.attempt) == []


def test_a_rank_sees_its_users_environment_and_nothing_of_the_agents(agent: AgentProcess, server: Server):
    agent.start()
    show = "import os; print('\\n'.join(f'{k}={v}' for k, v in os.environ.items()))"
    server.start("", ranks_per_node=1, argv=["python", "-c", show], env={"MINE": "yes"})
    server.wait_for_event("finished")
    env = dict(line.split("=", 1) for line in server.log(0).decode().splitlines() if "=" in line)
    assert env["MINE"] == "yes"
    assert env["PACELINE_RUN"] == f"r-{server.attempt}"
    assert env["GLOO_SOCKET_IFNAME"] == "lo"
    assert env["PYTHONPATH"].split(":")[0].endswith("trainer_agent/inject")
    assert env["WORLD_SIZE"] == "1"
    assert {"PACELINE_TOKEN", "SECRET_KEY", "PACELINE_HOME", "REDIS_URL"}.isdisjoint(env)


def test_a_rank_that_waits_in_vain_says_so_and_everything_ends(agent: AgentProcess, server: Server):
    agent.start()
    server.start("waits_in_vain.py")
    exited = server.wait_for_event("rank_exited", 0).data
    assert word_of(exited["traceback"]) == "collective_timeout"
    assert not exited["oom"]
    server.wait_for_event("finished")
    assert processes_of(NODE, server.attempt) == []


def test_a_launcher_that_is_killed_takes_its_ranks_with_it_and_is_told(agent: AgentProcess, server: Server):
    agent.start()
    server.start("counts.py")
    server.wait_for(lambda: server.kinds().count("rank_started") == 2)
    os.kill(server.event("launched").data["pid"], signal.SIGKILL)
    finished = server.wait_for_event("finished").data
    assert (finished["launcher_signal"], finished["reason"]) == (signal.SIGKILL, "exited")
    assert processes_of(NODE, server.attempt) == []


def test_an_agent_that_stood_still_goes_on_with_the_same_launch(agent: AgentProcess, server: Server):
    agent.start()
    server.start("counts.py", ranks_per_node=1)
    rank = server.wait_for_event("rank_started").data["pid"]
    process = agent.process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    log = agent.attempt(server.attempt) / "ranks/rank0.log"
    server.read()
    said = len(log.read_bytes())
    until(lambda: len(log.read_bytes()) > said + 100)  # training goes on
    process.send_signal(signal.SIGCONT)
    server.wait_for(lambda: len(server.log(0)) > said + 100)
    assert is_alive(rank)
    assert (server.kinds().count("launched"), server.kinds().count("rank_started")) == (1, 1)


def test_a_signal_to_every_process_at_once_is_told_as_a_stop_from_outside(agent: AgentProcess, server: Server):
    agent.start()
    server.start("counts.py")
    server.wait_for(lambda: server.kinds().count("rank_started") == 2)
    shim = json.loads((agent.attempt(server.attempt) / "shim.json").read_text())["pid"]
    for pid in (shim, *processes_of(NODE, server.attempt)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    assert server.wait_for_event("finished").data["reason"] == "shim_signalled"
    assert server.event("stopping").data["reason"] == "shim_signalled"
    assert processes_of(NODE, server.attempt) == []


def test_a_rank_and_the_agent_that_are_killed_together_are_told_by_the_next_agent(agent: AgentProcess, server: Server):
    agent.start()
    server.start("counts.py")
    server.wait_for(lambda: server.kinds().count("rank_started") == 2)
    agent.end(signal.SIGKILL)
    os.kill(server.event("rank_started", 0).data["pid"], signal.SIGKILL)
    until(lambda: processes_of(NODE, server.attempt) == [])
    agent.start()
    server.wait_for_event("finished", timeout=15)
    assert server.event("rank_exited", 0).data["signal"] == signal.SIGKILL
    assert server.event("rank_exited", 0).at <= server.event("rank_exited", 1).at
